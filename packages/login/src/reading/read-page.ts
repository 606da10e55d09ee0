import type { OutlineNode, PageOutline } from "@shoal/instance";
import { consentWords, continueWords, skipWords } from "../words/control-words.ts";
import { askConsentWords, staySignedInWords } from "../words/message-words.ts";
import { readForms, type ReadField, type ReadForm } from "./forms.ts";
import { isButton, PageTree } from "./page-tree.ts";
import {
  dismissalOf,
  hasSolvedCaptcha,
  isBlocked,
  isLocked,
  loginLinkOf,
  outsideAction,
  refusalOf,
  rememberBoxes,
  showsCaptcha,
  signOutOf,
  textsOf,
} from "./signs.ts";
import {
  codeSourceOf,
  type CodeSource,
  readAccounts,
  readFactors,
  readProviders,
  readSwitches,
  saysPasskey,
  type ReadWay,
} from "./ways.ts";

/** Everything that a login needs to know about a page. */
export interface PageReading {
  readonly form: ReadForm | undefined;
  readonly providers: readonly ReadWay[];
  readonly factors: readonly ReadWay[];
  readonly accounts: readonly ReadWay[];
  readonly switches: readonly ReadWay[];
  /** A button that agrees to what a provider passes on, or to stay signed in. */
  readonly consent: OutlineNode | undefined;
  /** Postpones a question after the login. */
  readonly skip: OutlineNode | undefined;
  readonly remember: readonly OutlineNode[];
  readonly loginLink: OutlineNode | undefined;
  readonly signOut: OutlineNode | undefined;
  /** A button that removes something in front of the form. */
  readonly dismissal: OutlineNode | undefined;
  readonly captcha: "none" | "asks" | "solved";
  readonly isBlocked: boolean;
  readonly isLocked: boolean;
  readonly isBusy: boolean;
  readonly saysPasskey: boolean;
  /** Of a form for a code. */
  readonly codeSource: CodeSource | undefined;
  /** Words that may be a refusal. */
  readonly message: string | undefined;
  readonly texts: readonly string[];
  readonly outside: { readonly type: "link" | "push"; readonly message: string } | undefined;
  /** Changes with the fields and choices of the page. */
  readonly signature: string;
}

/** Names nodes that the engine does not recognize. It sees outlines, which contain no values, and no secrets. */
export interface LoginModel {
  /** Returns what each reference means: a field's kind, `submit`, or a way. */
  nameNodes(outline: PageOutline): Promise<Readonly<Record<string, string>>>;
}

/** Reads a page. Accepts any outline, also of hostile pages. @param status - of the page's response. */
export function readPage(outline: PageOutline, status?: number): PageReading {
  const tree = new PageTree(outline);
  const { dismissal, form } = readForm(tree);
  const accounts = readAccounts(tree);
  const hasFields = form !== undefined;
  const factors = hasFields && form.purpose === "login" ? [] : readFactors(tree);
  const captcha = showsCaptcha(tree) ? (hasSolvedCaptcha(tree) ? "solved" : "asks") : "none";
  const reading = {
    form,
    providers: readProviders(tree),
    factors: factors.length >= 2 || (factors.length === 1 && !hasFields) ? factors : [],
    accounts,
    switches: readSwitches(tree),
    consent: hasFields ? undefined : consentOf(tree),
    skip: hasFields
      ? undefined
      : tree.nodes.find((node) => isButton(node) && node.hidden === undefined && skipWords.says(node.name)),
    remember: hasFields ? rememberBoxes(tree) : [],
    loginLink: hasFields ? undefined : loginLinkOf(tree),
    signOut: signOutOf(tree),
    dismissal,
    captcha,
    isBlocked: !hasFields && isBlocked(tree, status),
    isLocked: isLocked(tree),
    isBusy: tree.nodes.some(
      ({ hidden, role, states }) => hidden === undefined && (role === "progressbar" || states.includes("busy")),
    ),
    saysPasskey: saysPasskey(tree),
    codeSource: form?.fields.some(({ kind }) => kind === "otp") === true ? codeSourceOf(tree) : undefined,
    message: refusalOf(tree),
    texts: textsOf(tree),
    outside: hasFields ? undefined : outsideAction(tree),
  } as const;
  return { ...reading, signature: signatureOf(outline, form, [...reading.factors, ...accounts]) };
}

/** Fields that stay covered are traps; those below a banner can be uncovered. */
function readForm(tree: PageTree): Pick<PageReading, "dismissal" | "form"> {
  const [form] = readForms(tree, { covered: "include" });
  if (form === undefined) return { form, dismissal: undefined };
  const needed = [...form.fields.flatMap(({ nodes }) => nodes), ...(form.submit ? [form.submit] : [])];
  if (!needed.some(({ hidden }) => hidden === "covered")) return { form, dismissal: undefined };
  const dismissal = dismissalOf(tree, needed);
  if (dismissal !== undefined) return { form, dismissal };
  return { form: readForms(tree, { covered: "omit" })[0] ?? form, dismissal: undefined };
}

function consentOf(tree: PageTree): OutlineNode | undefined {
  const { words } = tree;
  const asks = askConsentWords.says(words) || staySignedInWords.says(words);
  if (!asks) return undefined;
  return tree.nodes.find(
    (node) =>
      isButton(node) &&
      node.role !== "link" &&
      node.hidden === undefined &&
      (consentWords.says(node.name) || continueWords.says(node.name)),
  );
}

function signatureOf(outline: PageOutline, form: ReadForm | undefined, ways: readonly ReadWay[]): string {
  const url = outline.frames[0]?.url ?? "";
  const place = URL.canParse(url) ? new URL(url).origin + new URL(url).pathname : "";
  const fields = form?.fields.map(({ kind, nodes }: ReadField) => `${kind}${nodes.length > 1 ? "*" : ""}`) ?? [];
  const heading = form === undefined ? (outline.nodes.find(({ role }) => role === "heading")?.name ?? "") : "";
  return [place, form?.purpose ?? "none", ...fields, ...ways.map(({ label }) => label), heading]
    .join("|")
    .slice(0, 1_000);
}
