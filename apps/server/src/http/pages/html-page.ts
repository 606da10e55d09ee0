import type { ServiceError } from "@shoal/router";
import type { FastifyReply } from "fastify";
import { createHash } from "node:crypto";

export interface HtmlPage {
  readonly html: string;
  readonly policy: string;
}

function digestOf(html: string, element: string): string {
  const content = new RegExp(`<${element}>([\\s\\S]*?)</${element}>`).exec(html)?.[1];
  return content === undefined ? "'none'" : `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
}

/**
 * @param html - with at most one `<script>` and one `<style>`, which the policy allows by hash.
 * @param options.frames - allow frames with pages of this service.
 */
export function htmlPage(html: string, { frames = false }: { readonly frames?: boolean } = {}): HtmlPage {
  return {
    html,
    policy: `default-src 'none'; script-src ${digestOf(html, "script")}; style-src ${digestOf(html, "style")}; img-src data: blob:; media-src 'self'; connect-src 'self'; ${frames ? "frame-src 'self'; " : ""}base-uri 'none'; form-action 'none'`,
  };
}

/** Text as HTML. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${String(character.charCodeAt(0))};`);
}

/** Both texts must be trusted HTML. */
export function refusalPage(title: string, text: string): HtmlPage {
  return htmlPage(`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${title}</title>
<style>:root{color-scheme:light dark}body{display:grid;place-content:center;min-height:100vh;margin:0;padding:20px;font:16px/1.5 system-ui,sans-serif;text-align:center}h1{margin:0;font-size:22px}p{max-width:55ch;margin:12px auto 0}</style></head>
<body><main><h1>${title}</h1><p>${text}</p></main></body></html>`);
}

/**
 * For people with a link that the service refuses. Omits the next step of the error, which names operations for programs: a 401
 * without one is written for people, about a link that has served its purpose.
 */
export function refusedLinkPage({ code, hint, problem, status }: ServiceError): HtmlPage {
  const reason = escaped(problem);
  if (status >= 500) return refusalPage("This page cannot be opened now", "Try again in a moment.");
  if (status === 403)
    return refusalPage(
      "You may not open this",
      code === "forbidden" ? reason : "The API key of this link has no right to it.",
    );
  if (status !== 401) return refusalPage("This link cannot be opened", reason);
  if (hint === undefined) return refusalPage("This link is not needed any more", reason);
  return refusalPage("This link is invalid or has expired", `${reason} Copy the whole link, or ask for a new one.`);
}

/** @param frameAncestors - sites that may embed the page, in CSP syntax; empty = none. */
export function sendPage(
  reply: FastifyReply,
  status: number,
  { html, policy }: HtmlPage,
  frameAncestors: readonly string[],
): void {
  const ancestors =
    frameAncestors.length === 0
      ? "'none'"
      : frameAncestors.map((site) => (site === "self" ? "'self'" : site)).join(" ");
  void reply
    .code(status)
    .headers({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": `${policy}; frame-ancestors ${ancestors}`,
      "cache-control": "no-store",
      // Anyone with this URL controls the session, so it must not leak as a referrer.
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-robots-tag": "noindex",
    })
    .send(html);
}
