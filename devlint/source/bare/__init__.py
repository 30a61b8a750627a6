"""LibCST nodes without layout, made from :mod:`ast`: what is analysed before anybody knows that there is a finding.

Parsing by LibCST costs seven times as much as by :mod:`ast`, most of it for white space that no analysis looks at. So a
file is first walked as *bare* nodes: LibCST's types with the fields that carry meaning and no others. Only where rules
have something to say is it walked again as LibCST reads it, for places, snippets and edits. A question about layout
finds no field on a bare node: :class:`nodes.NeedsLayout` then says that LibCST has to parse the text.
"""
