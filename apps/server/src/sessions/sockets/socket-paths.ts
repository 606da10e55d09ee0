import type { Entrant } from "../../audit/logs/follow.ts";

const socketPaths =
  /^\/browsers\/([^/]+)\/(cdp|webdriver|playwright|devtools\/(?:browser(?:\/[\w-]{1,100})?|page\/\w{1,100})|process\/[\w-]{1,255}\/attach)(\/?)$/;

/** Playwright's own protocol. */
export const playwrightTarget = "playwright";

/** The session and the path inside it of a socket. Clients of Playwright add a slash to an address that a document named. */
export function socketIn(path: string): { readonly id?: string | undefined; readonly target?: string | undefined } {
  const [, id, target, slash] = socketPaths.exec(path) ?? [];
  return slash === "/" && target !== playwrightTarget ? {} : { id, target };
}

/** @param path - of the operation, with or without its query. */
export function isPlaywrightSocket(path: string): boolean {
  return socketIn(path.split("?", 1)[0] ?? "").target === playwrightTarget;
}

export function isClientOf(target: string): boolean {
  return !target.startsWith("process/");
}

/** Playwright's own protocol needs the rights of CDP, of which it is another form. */
export function wayTo(target: string): Exclude<Entrant["way"], "browsers.create"> {
  if (target.startsWith("process/")) return "browsers.process.attach";
  return target === "webdriver" ? "browsers.webdriver.connect" : "browsers.cdp.connect";
}
