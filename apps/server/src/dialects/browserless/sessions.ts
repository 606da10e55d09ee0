import { readLaunch } from "../../sessions/connect/launch-options.ts";
import { createBrowserFor } from "../kit/create-browser.ts";
import type { DialectCaller, DialectParts } from "../kit/dialect.ts";
import { givenIn, reportIgnored } from "../kit/ignored.ts";
import { refuseFields } from "../kit/render-body.ts";
import type { CreatedSession, CreateSession } from "./shapes.ts";

const longestIdleSeconds = 259_200;
const missing = {
  proxy: "Create a session with POST /browsers and proxy_id.",
  profile: "Create a session with POST /browsers and profile.",
};

/** A session of the vendor's session API. @throws {ServiceError} as `browsers.create`. */
export async function createSession(
  parts: DialectParts,
  {
    body,
    context,
    signal,
  }: { readonly body: CreateSession; readonly context: DialectCaller; readonly signal: AbortSignal },
): Promise<CreatedSession> {
  const { args, browser, headless, stealth, ttl } = body;
  refuseFields(body, missing);
  reportIgnored(context.request, givenIn("body", body, ["blockAds", "processKeepAlive"]));
  const { calls } = context;
  const { access } = calls;
  const seconds = Math.ceil(ttl / 1000);
  const create = {
    timeout_seconds: Math.min(seconds, longestIdleSeconds),
    max_duration_seconds: seconds,
    ...(args && readLaunch(JSON.stringify({ args }))),
    ...(headless !== undefined && { headless }),
    ...((stealth === true || browser === "stealth") && { stealth: true }),
  };
  const created = await createBrowserFor(parts, { create, origin: { dialect: "browserless" } }, { calls, signal });
  const token = parts.signer.secrets.signSession(created.session_id, access.key.id);
  return {
    id: created.session_id,
    connect: created.cdp_ws_url,
    stop: `${access.baseUrl}/browserless/session/${token}`,
    ttl,
  };
}
