import { liveViewPagePath } from "@shoal/instance";
import { ServiceError } from "@shoal/router";
import type { FastifyInstance, FastifyReply } from "fastify";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import type { SessionStore } from "../browsers/session-store.ts";
import type { LiveViewAddresses } from "./live-view-address.ts";

export interface LiveViewParts {
  readonly addresses: LiveViewAddresses;
  readonly store: Pick<SessionStore, "find">;
  /** Sites that may show the page in a frame, as CSP's `frame-ancestors` names them; empty = none. */
  readonly frameAncestors: readonly string[];
  /** Called for an address that opens nothing, before it is refused. */
  readonly onRefused: (request: IncomingMessage) => void;
}

const endings: Readonly<Record<string, string>> = {
  deleted: "It was deleted.",
  timeout: "Nobody used it for its timeout.",
  browser_crashed: "Its browser crashed twice.",
  instance_lost: "The program that ran it was lost.",
  server_stopped: "The service was stopped.",
};

/** A page, and the policy that lets nothing run on it but itself. */
interface Page {
  readonly html: string;
  readonly policy: string;
}

function digestOf(html: string, element: string): string {
  const content = new RegExp(`<${element}>([\\s\\S]*?)</${element}>`).exec(html)?.[1];
  return content === undefined ? "'none'" : `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
}

function pageOf(html: string): Page {
  return { html, policy: `default-src 'none'; script-src ${digestOf(html, "script")}; style-src ${digestOf(html, "style")}; img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'` };
}

/** For who cannot be shown a session. Both texts are this service's own. */
function refusalPage(title: string, text: string): Page {
  return pageOf(`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${title}</title>
<style>:root{color-scheme:light dark}body{display:grid;place-content:center;min-height:100vh;margin:0;padding:20px;font:16px/1.5 system-ui,sans-serif;text-align:center}h1{margin:0;font-size:22px}p{max-width:55ch}</style></head>
<body><main><h1>${title}</h1><p>${text}</p></main></body></html>`);
}

/** Serves the page of live views, and what it asks for beside the WebSocket: whether its session still runs. */
export function serveLiveView(app: FastifyInstance, { addresses, store, frameAncestors, onRefused }: LiveViewParts): void {
  let loaded: Page | undefined;
  const ancestors = frameAncestors.length === 0 ? "'none'" : frameAncestors.map((site) => (site === "self" ? "'self'" : site)).join(" ");

  function send(reply: FastifyReply, status: number, { html, policy }: Page): void {
    void reply
      .code(status)
      .headers({
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": `${policy}; frame-ancestors ${ancestors}`,
        "cache-control": "no-store",
        // The address opens the session: nobody is to be told of it.
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-robots-tag": "noindex",
      })
      .send(html);
  }

  async function stateOf(request: IncomingMessage, token: string): Promise<{ readonly state: "running" } | { readonly state: "ended"; readonly ended_reason: string | null }> {
    let sessionId: string;
    try {
      ({ sessionId } = addresses.open(token));
    } catch (error) {
      onRefused(request);
      throw error;
    }
    const row = await store.find(undefined, sessionId, true);
    return row?.ended_at !== null ? { state: "ended", ended_reason: row?.ended_reason ?? null } : { state: "running" };
  }

  app.get<{ Params: { token: string } }>("/browser/live/:token", { exposeHeadRoute: false }, async (request, reply) => {
    try {
      const state = await stateOf(request.raw, request.params.token);
      if (state.state === "ended") send(reply, 404, refusalPage("The session has ended", endings[state.ended_reason ?? ""] ?? "Start another one."));
      else send(reply, 200, (loaded ??= pageOf(readFileSync(liveViewPagePath, "utf8"))));
    } catch (error) {
      if (!ServiceError.isInstance(error)) throw error;
      send(reply, error.status, refusalPage("This address opens nothing", error.message));
    }
    return reply;
  });
  app.get<{ Params: { token: string } }>("/browser/live/:token/state", { exposeHeadRoute: false }, async (request, reply) => {
    void reply.header("cache-control", "no-store");
    return stateOf(request.raw, request.params.token);
  });
}
