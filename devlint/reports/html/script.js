(function () {
  "use strict";
  var form = document.querySelector("form.filters");

  function open() {
    var target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (target && target.tagName === "DETAILS") target.open = true;
  }
  window.addEventListener("hashchange", open);
  open();

  if (!form) return;
  var sections = Array.prototype.map.call(document.querySelectorAll("section.file"), function (section) {
    var link = document.querySelector('nav a[href="#' + section.id + '"]');
    return {
      section: section,
      item: link && link.parentNode,
      path: section.querySelector("h2").textContent.toLowerCase(),
      cards: Array.prototype.map.call(section.querySelectorAll("article"), function (card) {
        var parts = card.querySelectorAll("header, .message");
        var words = Array.prototype.map.call(parts, function (part) { return part.textContent; }).join(" ");
        return { card: card, words: words.toLowerCase() };
      })
    };
  });

  function checked(name) {
    var boxes = form.querySelectorAll('input[name="' + name + '"]');
    if (!boxes.length) return null;
    var values = {};
    boxes.forEach(function (box) { values[box.value] = box.checked; });
    return values;
  }

  function apply() {
    var code = form.elements.code.value;
    var words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    var severity = checked("severity"), verdict = checked("verdict");
    var shown = 0, total = 0;
    sections.forEach(function (file) {
      var some = false;
      file.cards.forEach(function (entry) {
        var data = entry.card.dataset;
        var fits = (!code || data.code === code) &&
          (!severity || severity[data.severity] !== false) &&
          (!verdict || verdict[data.verdict] !== false) &&
          words.every(function (word) { return entry.words.indexOf(word) >= 0 || file.path.indexOf(word) >= 0; });
        entry.card.hidden = !fits;
        some = some || fits;
        shown += fits ? 1 : 0;
        total += 1;
      });
      file.section.hidden = !some;
      if (file.item) file.item.hidden = !some;
    });
    form.elements.count.value = shown === total ? total + " shown" : shown + " of " + total + " shown";
  }

  form.addEventListener("input", apply);
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  form.hidden = false;
  apply();
})();
