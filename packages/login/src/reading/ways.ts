import type { OutlineNode } from "@shoal/instance";
import {
  continueWords,
  otherWayWords,
  passwordWayWords,
  registerWords,
  sideWords,
  signInWords,
  signOutWords,
} from "../words/control-words.ts";
import { chooseAccountWords, factorWords, passkeyWords, phoneNumberWords, providers } from "../words/message-words.ts";
import { fold } from "../words/phrases.ts";
import { isButton, isField, meaningOf, type PageTree, wordsOf } from "./page-tree.ts";

export type FactorType = (typeof factorWords)[number][0];
export type WayType = "mfa_method" | "sso_provider" | "sign_in_method" | "account" | "other";

/** A choice that a page offers. */
export interface ReadWay {
  readonly type: WayType;
  readonly label: string;
  readonly node: OutlineNode;
  readonly provider?: string;
  readonly factor?: FactorType | "switch";
  /** Masked address or number: `•••-4477`. */
  readonly target?: string;
}

const withWords =
  /(?<![\p{L}])(?:with|using|via|mit|über|avec|con|com|met|przez|med|через|ile|で|使用|通过|로)(?![\p{L}])/iu;
const maskedTarget = /(?<![\w•*.+-])(?:[\w•*.+-]*[•*x…]{2}[\w•*.@…+-]*|[\w.•*+-]+@[\w.•*-]+)|\+?\d[\d ()-]{5,}\d/u;
const address = /(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+/;
const maxLabel = 120;

/** Buttons of identity providers. */
export function readProviders(tree: PageTree): readonly ReadWay[] {
  const found = new Map<string, ReadWay>();
  for (const node of tree.nodes) {
    if (!isButton(node) || node.role === "option") continue;
    const provider = providerOf(node);
    if (provider !== undefined && !found.has(provider))
      found.set(provider, { type: "sso_provider", provider, label: labelOf(node), node });
  }
  return [...found.values()];
}

function providerOf(node: OutlineNode): string | undefined {
  const meaning = `${node.name}\n${node.attributes["aria-label"] ?? ""}\n${node.attributes.title ?? ""}\n${node.attributes.alt ?? ""}`;
  const host =
    node.attributes.href !== undefined && URL.canParse(node.attributes.href)
      ? new URL(node.attributes.href).hostname
      : "";
  for (const [provider, words, hosts] of providers) {
    if (
      hosts.some((known) => (known.startsWith("*.") ? host.endsWith(known.slice(1)) : host === known)) &&
      signsIn(node.name)
    )
      return provider;
    if (!words.says(meaning) || node.name.length > 60) continue;
    const isBrand =
      fold(node.name).split(" ").length <= 2 &&
      !/^(?:play|store|maps|news)$/.test(fold(node.name).split(" ").at(-1) ?? "");
    if (signsIn(meaning) || withWords.test(meaning) || (isBrand && node.role !== "link")) return provider;
  }
  return undefined;
}

function signsIn(text: string): boolean {
  return signInWords.says(text) || continueWords.says(text) || registerWords.says(text);
}

/** Second factors, and other ways to sign in, that the page offers. */
export function readFactors(tree: PageTree): readonly ReadWay[] {
  const ways: ReadWay[] = [];
  const used = new Set<string>();
  for (const node of tree.nodes) {
    if (!isButton(node) || isOtherWay(node) || belongsElsewhere(tree, node)) continue;
    const words = `${node.name}\n${rowWords(tree, node)}`;
    const own = factorOf(node.name) ?? (isShortButton(node) ? factorOf(words) : undefined);
    if (own === undefined || (sideWords.says(node.name) && factorOf(node.name) === undefined)) continue;
    const key = `${own} ${node.name}`;
    if (used.has(key)) continue;
    used.add(key);
    const target = maskedTarget.exec(words)?.[0];
    ways.push({
      type: own === "password" ? "sign_in_method" : "mfa_method",
      factor: own,
      label: labelOf(node, words),
      node,
      ...(target !== undefined && { target }),
    });
  }
  return ways;
}

/** Part of the frame of a page, or of a form with fields. */
function belongsElsewhere(tree: PageTree, node: OutlineNode): boolean {
  if (tree.closest(node, "navigation", "contentinfo", "banner", "search") !== undefined) return true;
  const form = tree.closest(node, "form");
  return form !== undefined && tree.inside(form).some(isField);
}

/** "Select" or "Choose" in a row that says what. */
function isShortButton({ name, role }: OutlineNode): boolean {
  return (role === "button" || role === "radio") && fold(name).split(" ").length <= 2;
}

function rowWords(tree: PageTree, node: OutlineNode): string {
  const texts = tree.nodes.filter(
    ({ box, frame, role }) =>
      (role === "text" || role === "heading") &&
      frame === node.frame &&
      Math.abs(box.y + box.height / 2 - (node.box.y + node.box.height / 2)) <= 30,
  );
  return texts.map(({ name }) => name).join("\n");
}

function factorOf(text: string): FactorType | undefined {
  const found = factorWords.filter(([, words]) => words.says(text)).map(([type]) => type);
  // "Enter your password" on a page of ways; "text message to your phone"; "code from your authenticator app".
  for (const type of ["backup", "key", "totp", "push", "password", "sms", "call", "email"] as const)
    if (found.includes(type)) return type;
  return undefined;
}

/** How a code reaches the person: `totp` for an app that generates it; `undefined` if the page does not say. */
export type CodeSource = "sms" | "call" | "email" | "totp";

export function codeSourceOf(tree: PageTree): CodeSource | undefined {
  const texts = tree.nodes.filter(
    ({ hidden, role }) => (role === "text" || role === "heading") && hidden === undefined,
  );
  const spoken = texts.filter((node) => !tree.around(node).some(({ role }) => role === "link" || role === "button"));
  for (const { name } of spoken) {
    const factor = factorOf(name);
    if (factor === "totp" || factor === "sms" || factor === "call" || factor === "email") return factor;
  }
  const words = wordsOf(spoken);
  const target = maskedTarget.exec(words)?.[0];
  if (target === undefined) return phoneNumberWords.says(words) ? "sms" : undefined;
  return target.includes("@") ? "email" : "sms";
}

/** Rows of accounts that are known to a provider. */
export function readAccounts(tree: PageTree): readonly ReadWay[] {
  const rows = tree.nodes.filter(
    (node) =>
      isButton(node) && address.test(meaningOf(node)) && !signOutWords.says(node.name) && !sideWords.says(node.name),
  );
  if (rows.length === 0 || (rows.length < 2 && !chooseAccountWords.says(tree.words))) return [];
  return rows.map((node) => ({
    type: "account" as const,
    label: labelOf(node),
    node,
    target: address.exec(meaningOf(node))?.[0] ?? "",
  }));
}

export function isOtherWay(node: OutlineNode): boolean {
  return otherWayWords.says(node.name) && !passwordWayWords.says(node.name);
}

/** Links to other ways, and to a password. */
export function readSwitches(tree: PageTree): readonly ReadWay[] {
  return tree.nodes
    .filter((node) => isButton(node) && otherWayWords.says(node.name) && node.name.length <= 80)
    .map((node) => ({
      type: "other" as const,
      label: labelOf(node),
      node,
      factor: passwordWayWords.says(node.name) ? ("password" as const) : ("switch" as const),
    }));
}

export function saysPasskey(tree: PageTree): boolean {
  return passkeyWords.says(tree.words);
}

function labelOf({ name }: OutlineNode, words = ""): string {
  const label = isShort(name) && words !== "" ? words.replace(/(?<!\s)\s*\n\s*/g, " – ") : name;
  return label.replace(/\s+/g, " ").trim().slice(0, maxLabel);
}

function isShort(name: string): boolean {
  return fold(name).split(" ").length <= 1;
}
