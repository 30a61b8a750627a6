"""The rows of fixtures/semantics/rows.jsonl: operation x placement of its operands, as code that anybody can run."""
