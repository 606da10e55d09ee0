import type { OutlineNode } from "@shoal/instance";
import {
  acceptWords,
  closeWords,
  logonLinkWords,
  overlayWords,
  registerWords,
  rejectWords,
  rememberWords,
  signInWords,
  signOutWords,
} from "../words/control-words.ts";
import { newsletterWords } from "../words/field-words.ts";
import {
  blockedWords,
  captchaWords,
  lockedWords,
  mailLinkWords,
  pushWords,
  refusedWords,
  wrongWords,
} from "../words/message-words.ts";
import { isButton, isShown, meaningOf, type PageTree, wordsOf } from "./page-tree.ts";

const captchaHosts =
  /(?:^|\.)(?:hcaptcha\.com|recaptcha\.net|challenges\.cloudflare\.com|arkoselabs\.com|funcaptcha\.com|geetest\.com|captcha-delivery\.com|perimeterx\.net|px-cdn\.net|awswaf\.com|mtcaptcha\.com|friendlycaptcha\.com)$/;
/** A badge of an invisible captcha is smaller, or at the edge of the page. CSS pixels. */
const leastCaptcha = { width: 200, height: 60 };
const maxMessage = 300;
const maxTexts = 60;
/** A page with more of them is hostile. */
const maxAlerts = 50;

/** Whether a frame asks a person to prove that they are one. */
export function showsCaptcha(tree: PageTree): boolean {
  const { frames, viewport } = tree.outline;
  const placed = new Set(tree.nodes.map((inner) => `${String(inner.frame)} ${String(inner.parent)}`));
  const visible = new Set(tree.nodes.filter(({ role, hidden }) => role === "iframe" && hidden === undefined));
  for (const node of visible) {
    const child = frames.find((_, place) => placed.has(`${String(place)} ${String(tree.placeOf(node))}`));
    const address = child?.url ?? node.attributes.src ?? "";
    if (!isCaptchaAddress(address) && !captchaWords.says(`${node.name}\n${node.attributes.title ?? ""}`)) continue;
    const { height, width, x } = node.box;
    if (width < leastCaptcha.width || height < leastCaptcha.height) continue;
    if (/[?&]size=invisible/.test(address) || x + width > viewport.width || isBadge(tree, node)) continue;
    return true;
  }
  return false;
}

function isCaptchaAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { hostname, pathname } = new URL(address);
  return captchaHosts.test(hostname) || (/(?:^|\.)google\.com$/.test(hostname) && pathname.startsWith("/recaptcha/"));
}

/** Fixed in a corner, where an invisible captcha shows its terms. */
function isBadge(tree: PageTree, { box }: OutlineNode): boolean {
  const { viewport } = tree.outline;
  return box.height <= 62 && box.y > viewport.height - 120 && box.x > viewport.width - 320;
}

/** Whether a solved captcha says so in its frame. */
export function hasSolvedCaptcha(tree: PageTree): boolean {
  return tree.nodes.some(
    (node) =>
      node.role === "checkbox" &&
      node.states.includes("checked") &&
      isCaptchaAddress(tree.outline.frames[node.frame]?.url ?? ""),
  );
}

/** The site's words about a refusal: alerts, then texts near the fields that say so. */
export function refusalOf(tree: PageTree): string | undefined {
  const alerts = tree.nodes.filter(
    ({ role, frame }) => (role === "alert" || role === "alertdialog" || role === "status") && isOwnFrame(tree, frame),
  );
  for (const alert of alerts.slice(0, maxAlerts)) {
    const text = wordsOf(
      [alert, ...tree.inside(alert)].filter(
        ({ name, role }) => name !== "" && (role === "text" || role === "heading" || role === "alert"),
      ),
    );
    const words = text.replace(/\s+/g, " ").trim();
    if (words !== "" && (alert.role !== "status" || refusedWords.says(words))) return words.slice(0, maxMessage);
  }
  const said = tree.nodes.find(
    ({ name, role }) => role === "text" && name.length <= maxMessage && refusedWords.says(name),
  );
  return said?.name;
}

function isOwnFrame(tree: PageTree, place: number): boolean {
  return !isCaptchaAddress(tree.outline.frames[place]?.url ?? "");
}

/** Texts that a person sees, for comparing pages. */
export function textsOf(tree: PageTree): readonly string[] {
  const texts = tree.nodes.filter(({ frame, name, role }) => role === "text" && name !== "" && isOwnFrame(tree, frame));
  return texts.slice(0, maxTexts).map(({ name }) => name.slice(0, maxMessage));
}

export function isLocked(tree: PageTree): boolean {
  return tree.nodes.some(
    ({ name, role }) => (role === "text" || role === "heading") && lockedWords.says(name) && !wrongWords.says(name),
  );
}

export function isBlocked(tree: PageTree, status: number | undefined): boolean {
  const words = `${tree.outline.frames[0]?.title ?? ""}\n${tree.words}`;
  return (
    (status === 403 || status === 429 || status === 503 || status === undefined || status === 200) &&
    blockedWords.says(words)
  );
}

/** What a person must do outside of the page, in the site's words. */
export function outsideAction(
  tree: PageTree,
): { readonly type: "link" | "push"; readonly message: string } | undefined {
  const texts = tree.nodes.filter(({ role }) => role === "text" || role === "heading");
  for (const [type, words] of [
    ["link", mailLinkWords],
    ["push", pushWords],
  ] as const)
    if (texts.some(({ name }) => words.says(name)))
      return {
        type,
        message: wordsOf(texts)
          .replace(/(?<!\s)\s*\n\s*/g, " ")
          .slice(0, maxMessage),
      };
  return undefined;
}

export function signOutOf(tree: PageTree): OutlineNode | undefined {
  return tree.nodes.find((node) => (isButton(node) || node.role === "menuitem") && signOutWords.says(meaningOf(node)));
}

/** A control that leads to a login. */
export function loginLinkOf(tree: PageTree): OutlineNode | undefined {
  const links = tree.nodes.filter(
    (node) => isButton(node) && node.hidden === undefined && meaningOf(node).length <= 400,
  );
  const exact = links.find((node) => signInWords.says(node.name) && !registerWords.says(node.name));
  return exact ?? links.find((node) => logonLinkWords.says(node.name) && !registerWords.says(node.name));
}

/** Unticked boxes that keep the session. */
export function rememberBoxes(tree: PageTree): readonly OutlineNode[] {
  return tree.nodes.filter(
    (node) =>
      (node.role === "checkbox" || node.role === "switch") &&
      isShown(node) &&
      !node.states.includes("checked") &&
      !node.states.includes("disabled") &&
      rememberWords.says(meaningOf(node)),
  );
}

/** The button that removes something in front of the page, with the least consent. */
export function dismissalOf(tree: PageTree, needed: readonly OutlineNode[]): OutlineNode | undefined {
  if (!needed.some(({ hidden }) => hidden === "covered")) return undefined;
  const around = new Set(
    needed.flatMap((node) => tree.around(node).filter(({ role }) => role === "dialog" || role === "form")),
  );
  const buttons = tree.nodes.filter(
    (node) =>
      isButton(node) &&
      node.hidden === undefined &&
      !needed.includes(node) &&
      ![...around].some((block) => tree.around(node).includes(block)),
  );
  const inOverlay = buttons.filter((node) => isInOverlay(tree, node));
  for (const words of [rejectWords, closeWords, acceptWords]) {
    const found =
      inOverlay.find((node) => words.says(node.name)) ??
      buttons.find((node) => node.role !== "link" && words.says(node.name));
    if (found !== undefined) return found;
  }
  return undefined;
}

function isInOverlay(tree: PageTree, node: OutlineNode): boolean {
  const blocks = tree.around(node);
  if (blocks.some(({ role }) => role === "dialog" || role === "alertdialog")) return true;
  const words = wordsOf(blocks);
  return overlayWords.says(words) || newsletterWords.says(words);
}
