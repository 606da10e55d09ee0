import { messageOf } from "@shoal/primitives";
import { type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import { text as readText } from "node:stream/consumers";
import type { BrowserEndpoint } from "../../browser/chromium/browser.ts";
import { type AutomationPause, handoffRefusal } from "../../pause/automation-pause.ts";
import { refuse, splitUrl } from "../../http/replies.ts";

const changing = /^\/json\/(?:new|activate|close)/;

export interface JsonEndpointsOptions {
  endpoint(): Promise<BrowserEndpoint>;
  /** Whether a target belongs to the instance and is hidden from clients. */
  isHelper(targetId: string): boolean;
  /** While a person controls the session, nothing is opened, shown or closed. */
  readonly pause: Pick<AutomationPause, "isActive">;
}

const known = /^\/json(?:\/(?:version|list|protocol|new|activate\/\w{1,100}|close\/\w{1,100}))?\/?$/;

/** Serves Chromium's `/json/…` endpoints; never rejects. The service replaces the URLs by public ones. */
export async function serveJsonEndpoint(
  options: JsonEndpointsOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  request.resume();
  const { path, query } = splitUrl(request.url ?? "");
  if (!known.test(path)) {
    refuse(response, {
      status: 404,
      code: "not_found",
      message: `Unknown path ${path.slice(0, 200)}; use /json/version, /json/list, /json/protocol, /json/new, /json/activate/{id} or /json/close/{id}.`,
    });
    return;
  }
  if (options.pause.isActive && changing.test(path)) {
    refuse(response, handoffRefusal);
    return;
  }
  try {
    const { port } = await options.endpoint();
    const { status, type, body } = await askBrowser(
      port,
      request.method ?? "GET",
      `${path.replace(/\/$/, "")}${query === "" ? "" : `?${query}`}`,
    );
    const isDocument = status === 200 && /^\/json(?:\/(?:version|list|new))?\/?$/.test(path);
    const sent = isDocument ? JSON.stringify(withoutHelpers(JSON.parse(body), options)) : body;
    response
      .writeHead(status, {
        "content-type": type,
        "content-length": Buffer.byteLength(sent),
        "cache-control": "no-store",
      })
      .end(sent);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else
      refuse(response, {
        status: 503,
        code: "browser_not_running",
        message: `The browser cannot be reached: ${messageOf(error)}. Try again.`,
      });
  }
}

/** Calls one of Chromium's `/json/…` endpoints. */
export async function askBrowser(
  port: number,
  method: string,
  path: string,
): Promise<{ status: number; type: string; body: string }> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest(
      { host: "127.0.0.1", port, method, path, headers: { host: `127.0.0.1:${String(port)}` }, agent: false },
      resolve,
    )
      .on("error", reject)
      .end();
  });
  return {
    status: answer.statusCode ?? 502,
    type: answer.headers["content-type"] ?? "text/plain",
    body: await readText(answer),
  };
}

function withoutHelpers(value: unknown, options: JsonEndpointsOptions): unknown {
  if (!Array.isArray(value)) return value;
  const targets: unknown[] = value;
  return targets.filter((target) => !options.isHelper(String((target as { readonly id?: unknown }).id)));
}
