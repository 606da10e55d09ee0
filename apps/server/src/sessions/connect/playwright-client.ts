import { playwrightMinors } from "@shoal/instance";
import { ServiceError } from "@shoal/router";
import type { IncomingHttpHeaders } from "node:http";
import { readPlaywrightLaunch } from "./playwright-launch.ts";

export interface PlaywrightClient {
  /** Launch options without effect, for the answer. */
  readonly ignored: readonly string[];
}

const { newest, oldest } = playwrightMinors;
const launchHeader = "x-playwright-launch-options";
const launchSetting = "launch-options";
const maxVersionCharacters = 40;

/**
 * Checks a client of Playwright's own protocol before a session exists. For an address that creates one, launch options
 * become settings of the address. @throws {ServiceError} 400, 428 or 501.
 */
export function admitPlaywrightClient(
  headers: IncomingHttpHeaders,
  url: URL,
  { isNew }: { readonly isNew: boolean },
): PlaywrightClient {
  const { searchParams: settings } = url;
  refuseOtherBrowsers(headers["x-playwright-browser"] ?? browserIn(url.pathname) ?? settings.get("browser"));
  refuseOtherVersions(headers["user-agent"]);
  if (textOf(headers["x-playwright-proxy"]) !== "")
    throw refusal("exposeNetwork", "the network of the client cannot be reached from the session", {
      hint: "Leave it out, and give the session a proxy that reaches your network: proxy=NAME in the address.",
    });
  if (isNew && settings.get("isolation") === "context")
    throw refusal("isolation", "Playwright's own protocol needs a browser without other sessions", {
      hint: "Leave it out, or use chromium.connectOverCDP.",
    });
  const launch = textOf(headers[launchHeader]) || settings.get(launchSetting);
  settings.delete(launchSetting);
  settings.delete("browser");
  if (launch === null || launch === "") return { ignored: [] };
  const { ignored, wanted } = readPlaywrightLaunch(launch);
  const joins = !isNew || settings.has("sessionId") || settings.has("session_id");
  if (joins) return { ignored: [...ignored, ...Object.keys(wanted).map((name) => `launch.${name}`)] };
  for (const [name, value] of Object.entries(wanted)) if (!settings.has(name)) settings.set(name, value);
  return { ignored };
}

const textOf = (header: string | readonly string[] | undefined): string =>
  typeof header === "string" ? header : (header ?? []).join(",");

/** Of `/playwright/chromium/1.65`; a version there is a wish for other services, and the client's own decides. */
function browserIn(path: string): string | undefined {
  return /^\/playwright\/([a-z]+)/.exec(path)?.[1];
}

function refuseOtherBrowsers(asked: string | readonly string[] | null | undefined): void {
  const browser = textOf(asked ?? "chromium").slice(0, maxVersionCharacters);
  if (browser === "chromium") return;
  throw new ServiceError(501, "not_implemented", `This service runs Chromium, not ${JSON.stringify(browser)}.`, {
    hint: "Connect with chromium.connect.",
  });
}

function refuseOtherVersions(userAgent: string | undefined): void {
  const [, version = "", minor = ""] = /^Playwright\/(1\.(\d{1,3})[\w.-]{0,30})/.exec(userAgent ?? "") ?? [];
  const served = `This service speaks Playwright 1.${String(oldest)} to 1.${String(newest)}`;
  if (version === "")
    throw new ServiceError(428, "not_implemented", `${served}; the client does not name its version.`, {
      hint: "Connect with chromium.connect of Playwright, or use cdp_ws_url with other clients.",
    });
  if (Number(minor) < oldest)
    throw new ServiceError(428, "not_implemented", `${served}; your client is ${version}.`, {
      hint: "Update the client, or use chromium.connectOverCDP.",
    });
  if (Number(minor) > newest)
    throw new ServiceError(428, "not_implemented", `${served}; your client is ${version}.`, {
      hint: "Update the service, or use chromium.connectOverCDP.",
    });
}

function refusal(field: string, problem: string, { hint }: { readonly hint: string }): ServiceError {
  return new ServiceError(400, "bad_request", problem, { field, hint });
}
