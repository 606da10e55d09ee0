import type { DocumentNodes } from "./document-nodes.ts";

const maxNodes = 2_000;
const maxDepth = 100;
/** Signs between two parts of a formula. */
const between = /^[=<>≤≥≠≈≡∈∉⊂⊆→⇒⇔∼+\-−±×·∘∧∨]$/u;
const tokens: ReadonlySet<string> = new Set(["mi", "mn", "mo", "ms", "mtext"]);
const known = /^(?:m[a-z]+|semantics|annotation|annotation-xml|none)$/;

/** The text of a formula in MathML as one line, such as `a/2 = √(b + 1)`. `undefined` if it holds other elements. */
export function formulaOf(
  nodes: DocumentNodes,
  formula: number,
  isShown: (node: number) => boolean,
): string | undefined {
  /** Below 0 for a formula that is not written. */
  let left = maxNodes;
  const write = (node: number, depth: number): string => {
    const tag = nodes.tagOf(node);
    left = left < 0 || depth > maxDepth || !known.test(tag) ? -1 : left - 1;
    if (left < 0) return "";
    const children = [...nodes.childrenOf(node)];
    const inner = children.filter((child) => nodes.isElement(child));
    if (tokens.has(tag) && inner.length === 0) {
      const text = children
        .filter((child) => nodes.isText(child) && isShown(child))
        .map((child) => nodes.textOf(child));
      return token(tag, text.join("").trim());
    }
    return joined(
      tag,
      inner.map((child) => write(child, depth + 1)),
    );
  };
  const text = write(formula, 0).replace(/\s+/g, " ").trim();
  return left < 0 ? undefined : text;
}

function token(tag: string, text: string): string {
  return tag === "mtext" || (tag === "mo" && between.test(text)) ? ` ${text} ` : text;
}

function joined(tag: string, parts: readonly string[]): string {
  const [base = "", first = "", second = ""] = parts;
  switch (tag) {
    case "mfrac":
      return `${group(base)}/${group(first)}`;
    case "msqrt":
      return `√${group(parts.join(""))}`;
    case "mroot":
      return `${group(first)}√${group(base)}`;
    case "msub":
    case "munder":
      return `${group(base)}_${group(first)}`;
    case "msup":
    case "mover":
      return `${group(base)}^${group(first)}`;
    case "msubsup":
    case "munderover":
      return `${group(base)}_${group(first)}^${group(second)}`;
    case "mtable":
      return parts.join("; ");
    case "mtr":
      return parts.join(", ");
    case "mspace":
      return " ";
    default:
      return parts.join("");
  }
}

function group(part: string): string {
  const text = part.trim();
  return text.length < 2 || /^[\p{L}\p{N}.,]+$/u.test(text) ? text : `(${text})`;
}
