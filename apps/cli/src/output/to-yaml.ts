import { Document, isScalar, Scalar, visit } from "yaml";
import { hiddenMarks } from "./screen-marks.ts";

export function toYaml(value: unknown): string {
  const document = new Document(value);
  // Marks of text direction can be escaped in double quotes only, see `escapeMarks`.
  visit(document, (_key, node) => {
    if (isScalar(node) && typeof node.value === "string" && hiddenMarks.test(node.value))
      node.type = Scalar.QUOTE_DOUBLE;
  });
  return document.toString({ lineWidth: 0 });
}
