import type { DocumentNodes } from "./document-nodes.ts";

const maxNodes = 2_000;
const maxDepth = 100;
/** Signs between two parts of a formula. */
const between = /^[=<>≤≥≠≈≡∈∉⊂⊆→⇒⇔∼+\-−±×·∘∧∨]$/u;
const tokens: ReadonlySet<string> = new Set(["mi", "mn", "mo", "ms", "mtext"]);
const known = /^(?:m[a-z]+|semantics|annotation|annotation-xml|none)$/;

const maxLevels = 4;
const maxSearched = 50;

type IsDrawn = (node: number) => boolean;

/** What assistive technology gets in the place of a part that is drawn. */
export interface Alternative {
  readonly text: string;
  /** Whether a person sees a picture, so that nothing shows whether the text is true. */
  readonly isPicture: boolean;
}

/**
 * Libraries draw formulas in a part with `aria-hidden`, next to hidden MathML. It is the text of what they draw if it
 * has the same letters and digits.
 */
export function alternativeOf(nodes: DocumentNodes, drawn: number, isDrawn: IsDrawn): Alternative | undefined {
  const siblings = nodes.firstChildrenOf(nodes.parentOf(drawn), maxSearched);
  const isPart = (node: number): boolean => nodes.attributeOf(node, "aria-hidden") === "true" && isDrawn(node);
  // Several parts may draw one formula.
  if (siblings.find(isPart) !== drawn) return undefined;
  const math = mathBelow(nodes, siblings);
  if (math === undefined || formulaOf(nodes, math, isDrawn) !== "") return undefined;
  const text = formulaOf(nodes, math, () => true) ?? "";
  const shown = textOf(nodes, drawn, isDrawn);
  if (shown === "") return { text, isPicture: true };
  return { text: lettersOf(shown) === lettersOf(textOf(nodes, math, () => true)) ? text : shown, isPicture: false };
}

function mathBelow(nodes: DocumentNodes, roots: readonly number[]): number | undefined {
  let waiting = roots;
  for (let level = 0; level < maxLevels && waiting.length < maxSearched; level++) {
    const math = waiting.find((node) => nodes.tagOf(node) === "math");
    if (math !== undefined) return math;
    waiting = waiting.flatMap((node) => nodes.firstChildrenOf(node, maxSearched));
  }
  return undefined;
}

function textOf(nodes: DocumentNodes, root: number, isShown: IsDrawn): string {
  let text = "";
  let left = maxNodes;
  const visit = (node: number, depth: number): void => {
    if (depth > maxDepth || --left < 0 || nodes.tagOf(node).startsWith("annotation")) return;
    if (nodes.isText(node) && isShown(node)) text += nodes.textOf(node);
    for (const child of nodes.childrenOf(node)) visit(child, depth + 1);
  };
  visit(root, 0);
  return text.replace(/[\s\u200B-\u200F\u2060-\u2064]+/g, " ").trim();
}

/** In one order: fractions are drawn from below. */
function lettersOf(text: string): string {
  return (text.normalize("NFKC").match(/[\p{L}\p{N}]/gu) ?? []).sort().join("");
}

/**
 * The text of a formula in MathML as one line, such as `a/2 = √(b + 1)`. Empty if none of its signs is shown,
 * `undefined` if it holds other elements.
 */
export function formulaOf(nodes: DocumentNodes, formula: number, isShown: IsDrawn): string | undefined {
  let shown = 0;
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
      shown += text.length;
      return token(tag, text.join("").trim());
    }
    return joined(
      tag,
      inner.map((child) => write(child, depth + 1)),
    );
  };
  const text = write(formula, 0).replace(/\s+/g, " ").trim();
  return left < 0 ? undefined : shown > 0 ? text : "";
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
