import type { OutlineNode } from "@shoal/instance";
import { registerWords, signInWords, continueWords, sendWords, sideWords } from "../words/control-words.ts";
import { codeWords, newsletterWords, oldPasswordWords, searchWords } from "../words/field-words.ts";
import { expiredPasswordWords, questionWords } from "../words/message-words.ts";
import { freeName, isIdentifier, isPassword, kindsOf, type FieldKind } from "./field-kinds.ts";
import { isButton, isField, meaningOf, type PageTree, wordsOf } from "./page-tree.ts";

export interface ReadField {
  readonly kind: FieldKind;
  /** Unique in its form: the kind, with a number on repetition, or a word of the field. */
  readonly name: string;
  readonly label: string;
  /** One element, or one for each character of a code. */
  readonly nodes: readonly OutlineNode[];
  readonly required: boolean;
  /** Host of the field's frame. */
  readonly host: string;
}

export type FormPurpose = "login" | "code" | "question" | "change_password" | "other";

export interface ReadForm {
  readonly purpose: FormPurpose;
  readonly fields: readonly ReadField[];
  readonly submit: OutlineNode | undefined;
  /** The element around the fields, if there is one. */
  readonly block: OutlineNode | undefined;
  readonly score: number;
}

const maxForms = 30;
/** Further nodes of a form are ignored. */
const maxInside = 300;
const blockRoles = ["form", "dialog", "alertdialog", "search"] as const;

/** Groups the fields of a page, and returns the forms of a login, the best first. */
export function readForms(tree: PageTree, { covered }: { readonly covered: "include" | "omit" }): readonly ReadForm[] {
  const groups = new Map<OutlineNode | string, OutlineNode[]>();
  for (const node of tree.nodes) {
    if (!isField(node) || (covered === "omit" && node.hidden === "covered")) continue;
    const key = tree.closest(node, ...blockRoles) ?? `frame ${String(node.frame)}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [node]);
    else group.push(node);
  }
  // A page with more forms is hostile, or a list; logins have a password, or come early.
  const hasPassword = ([, nodes]: [unknown, OutlineNode[]]): number =>
    nodes.some(({ attributes }) => attributes.type === "password") ? 0 : 1;
  const looked = [...groups].sort((first, second) => hasPassword(first) - hasPassword(second)).slice(0, maxForms);
  const forms = looked.map(([key, nodes]) => readForm(tree, typeof key === "string" ? undefined : key, nodes));
  return forms.filter(({ purpose }) => purpose !== "other").sort((first, second) => second.score - first.score);
}

function readForm(tree: PageTree, block: OutlineNode | undefined, nodes: readonly OutlineNode[]): ReadForm {
  const fields = readFields(tree, nodes);
  const submit = findSubmit(tree, block, nodes);
  const words = surroundings(tree, block, nodes);
  const { purpose, score } = judge(fields, { submit, words, block, page: pageWords(tree) });
  const asked = fields.filter((field) => isAsked(field, purpose));
  const named = purpose === "question" ? asked.map((field) => ({ ...field, name: "security_answer" })) : asked;
  return { purpose, fields: named, submit, block, score };
}

function isAsked({ kind, required }: ReadField, purpose: FormPurpose): boolean {
  if (kind === "search") return false;
  if (purpose === "login") return kind !== "text" || required;
  return true;
}

function readFields(tree: PageTree, nodes: readonly OutlineNode[]): readonly ReadField[] {
  const groups = joinBoxes(nodes);
  const kinds = kindsOf(groups.map(([first]) => first));
  const used = new Map<string, number>();
  return groups.map((group, place) => {
    const [first] = group;
    const isCode = group.length > 1;
    const kind = isCode ? "otp" : (kinds[place] ?? "text");
    const base = kind === "text" ? freeName(first) : kind;
    const count = (used.get(base) ?? 0) + 1;
    used.set(base, count);
    return {
      kind,
      name: count === 1 ? base : `${base}_${String(count)}`,
      label: isCode ? (tree.closest(first, "group")?.name ?? "") : first.name || (first.attributes.placeholder ?? ""),
      nodes: group,
      required: first.states.includes("required"),
      host: tree.hostOf(first),
    };
  });
}

type Boxes = readonly [OutlineNode, ...OutlineNode[]];

/** Joins boxes in a row that take one character each. */
function joinBoxes(nodes: readonly OutlineNode[]): readonly Boxes[] {
  const groups: [OutlineNode, ...OutlineNode[]][] = [];
  for (const node of nodes) {
    const last = groups.at(-1);
    const previous = last?.at(-1);
    if (last !== undefined && previous !== undefined && isBox(node) && isBox(previous) && areBeside(previous, node))
      last.push(node);
    else groups.push([node]);
  }
  // Two or three small fields are something else, such as a date.
  return groups.flatMap((group) =>
    group.length >= 4 && group.length <= 10 ? [group] : group.map((node): Boxes => [node]),
  );
}

function isBox({ attributes, box }: OutlineNode): boolean {
  const length = Number(attributes.maxlength ?? "0");
  return (
    length === 1 ||
    ((length === 0 || length > 1) &&
      box.width > 0 &&
      box.width <= 80 &&
      box.height >= box.width * 0.5 &&
      attributes.inputmode === "numeric")
  );
}

function areBeside(first: OutlineNode, second: OutlineNode): boolean {
  return first.frame === second.frame && Math.abs(first.box.y - second.box.y) <= 8 && second.box.x - first.box.x <= 160;
}

/** Headings and texts of the form, and those before it, back to a heading. */
function surroundings(tree: PageTree, block: OutlineNode | undefined, nodes: readonly OutlineNode[]): string {
  const [first] = nodes;
  if (first === undefined) return "";
  const start = block ?? first;
  const before = tree.nodes.slice(0, tree.placeOf(start)).filter(({ frame }) => frame === first.frame);
  const heading = before.findLastIndex(({ role }) => role === "heading");
  const above = heading < 0 ? [] : before.slice(heading).filter(({ role }) => role === "heading" || role === "text");
  const inside =
    block === undefined
      ? []
      : tree
          .inside(block)
          .slice(0, maxInside)
          .filter(({ role }) => spokenRoles.has(role));
  return wordsOf([...above.slice(0, maxAbove), ...(block ? [block] : []), ...inside]);
}

const spokenRoles: ReadonlySet<string> = new Set(["heading", "text", "button"]);
const maxAbove = 8;

function pageWords(tree: PageTree): string {
  const [frame] = tree.outline.frames;
  const url = frame !== undefined && URL.canParse(frame.url) ? new URL(frame.url).pathname : "";
  return [frame?.title ?? "", url, wordsOf(tree.nodes.filter(({ role }) => role === "heading"))].join("\n");
}

interface Signs {
  readonly submit: OutlineNode | undefined;
  readonly words: string;
  readonly block: OutlineNode | undefined;
  readonly page: string;
}

function judge(
  fields: readonly ReadField[],
  { block, page, submit, words }: Signs,
): { purpose: FormPurpose; score: number } {
  const other = { purpose: "other", score: 0 } as const;
  const kinds = fields.map(({ kind }) => kind);
  const count = (fits: (kind: FieldKind) => boolean): number => kinds.filter(fits).length;
  const button = submit === undefined ? "" : meaningOf(submit);
  const saysSignIn = signInWords.says(`${words}\n${button}`);
  const registers = registerWords.says(button) && !signInWords.says(button);
  if (block?.role === "search" || kinds.every((kind) => kind === "search")) return other;
  if (searchWords.says(button) && count(isPassword) === 0) return other;
  const passwords = count(isPassword);
  const texts = count((kind) => kind === "text");
  const codes = count((kind) => kind === "otp");
  const isDialog = block?.role === "dialog" ? 2 : 0;
  // A change of the address or the like, on a page of the account.
  if (
    fields.some(({ nodes: [first] }) => first && oldPasswordWords.says(meaningOf(first))) &&
    !saysSignIn &&
    passwords === 1
  )
    return other;
  if (count((kind) => kind === "new_password") > 0) {
    const isExpired = expiredPasswordWords.says(`${words}\n${page}`);
    if (!registers && texts <= 1 && (isExpired || (count(isIdentifier) === 0 && passwords > 1)))
      return { purpose: "change_password", score: 8 };
    if (passwords > 1 || registers || texts > 1) return other;
  }
  if (texts === 1 && passwords === 0 && fields.length === 1 && questionWords.says(words))
    return { purpose: "question", score: 9 };
  if (registers || (texts > 1 && passwords === 0)) return other;
  if (codes > 0 && passwords === 0 && count(isIdentifier) <= 1 && texts <= 1)
    return { purpose: "code", score: 9 + isDialog };
  if (passwords === 1) return { purpose: "login", score: 10 + isDialog + (saysSignIn ? 5 : 0) - 2 * texts };
  const identifiers = count(isIdentifier) + count((kind) => kind === "organization");
  if (passwords > 1 || identifiers === 0 || fields.length > 2 || texts > 0) return other;
  if (newsletterWords.says(`${words}\n${button}`) && !saysSignIn) return other;
  // An address alone may belong to a newsletter or to a change of address.
  const continues = continueWords.says(button) || sendWords.says(button);
  const saysChange = /change|new e-?mail|update/i.test(words) && !saysSignIn;
  if (saysChange) return other;
  if (saysSignIn || (continues && signInWords.says(page))) return { purpose: "login", score: 6 + isDialog };
  const isAlone = continueWords.says(button) && (kinds.every((kind) => kind === "phone") || codeWords.says(words));
  return isAlone ? { purpose: "login", score: 3 } : other;
}

/** The form's default button, else the nearest that continues. */
function findSubmit(
  tree: PageTree,
  block: OutlineNode | undefined,
  nodes: readonly OutlineNode[],
): OutlineNode | undefined {
  const [first] = nodes;
  const last = nodes.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const inside = block === undefined ? near(tree, first, last) : tree.inside(block).slice(0, maxInside);
  const buttons = inside.filter((node) => isButton(node) && node.role !== "radio" && node.role !== "option");
  const ranked = buttons
    .map((node) => ({ node, rank: submitRank(node, tree.placeOf(node) > tree.placeOf(last)) }))
    .filter(({ rank }) => rank > 0)
    .sort((one, two) => two.rank - one.rank);
  return ranked[0]?.node;
}

function near(tree: PageTree, first: OutlineNode, last: OutlineNode): readonly OutlineNode[] {
  const start = Math.max(0, tree.placeOf(first) - 5);
  return tree.nodes.slice(start, tree.placeOf(last) + 30).filter(({ frame }) => frame === first.frame);
}

function submitRank(node: OutlineNode, isAfter: boolean): number {
  const { attributes, role, states, tag } = node;
  const meaning = meaningOf(node);
  const type = attributes.type?.toLowerCase();
  const words = signInWords.says(meaning) ? 8 : continueWords.says(meaning) ? 7 : sendWords.says(meaning) ? 5 : 0;
  if (type === "reset" || (sideWords.says(meaning) && words < 7)) return 0;
  if (/\b(?:with|mit|avec|con|com|met)\b/i.test(meaning) && /google|apple|facebook|microsoft|github/i.test(meaning))
    return 0;
  const submits = type === "submit" || type === "image" || (tag === "button" && type === undefined) ? 6 : 0;
  if (role === "link" && words < 5) return 0;
  if (role === "clickable" && words === 0) return 0;
  const rank = words + submits - (role === "link" ? 4 : 0) - (states.includes("disabled") ? 1 : 0) + (isAfter ? 1 : 0);
  return words + submits > 0 ? rank : role === "button" && isAfter ? 1 : 0;
}
