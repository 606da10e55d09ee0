import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { HtmlPage } from "../../http/pages/html-page.ts";
import type { RequestOrigins } from "../../http/request-origin.ts";
import { readConsoleFiles } from "./console-files.ts";

export const root = "/console";

/** Address of the console, for the `<base>` of its pages. */
export function baseOf(request: IncomingMessage, origins: Pick<RequestOrigins, "baseUrlOf">): string {
  return `${origins.baseUrlOf(request)}${root}/`;
}

/** Writes the nonce of this response and the `<base>` into a built page. */
export function filledIn(page: string, base: string): { readonly html: string; readonly nonce: string } {
  const nonce = randomBytes(18).toString("base64");
  const html = page
    .replaceAll("SHOAL_NONCE", nonce)
    // The path only: the browser knows the origin, and a wrong host would break the page.
    .replace("<!--base-->", `<base href="${new URL(base).pathname}" />`);
  return { html, nonce };
}

/** The page of a recording. Its policy allows no frames and no other origin. */
export async function replayPage(
  request: IncomingMessage,
  origins: Pick<RequestOrigins, "baseUrlOf">,
): Promise<HtmlPage> {
  const { replay } = await readConsoleFiles();
  const { html, nonce } = filledIn(replay, baseOf(request, origins));
  return {
    html,
    policy: `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; media-src 'self'; connect-src 'self'; base-uri 'self'; form-action 'none'`,
  };
}
