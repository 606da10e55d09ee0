import { answerJson, type Instance } from "@shoal/placement";
import { anySignal } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import * as z from "zod/mini";
import { noAnswer } from "../../sessions/instance-plane/no-answer.ts";
import { WaitingLine } from "../../sessions/waiting/waiting-line.ts";
import { createBrowserFor } from "../kit/create-browser.ts";
import type { DialectCaller, DialectParts } from "../kit/dialect.ts";
import { readCapabilities, type WantedSession } from "./capabilities.ts";

/** Below the timeouts of clients, which are 120 seconds or more. */
const waitMs = 60_000;
const driverMs = 90_000;

/** Of an instance, which may be compromised. Others are dropped. */
const Started = z.object({
  value: z.object({
    capabilities: z.object({
      acceptInsecureCerts: z.optional(z.boolean()),
      browserVersion: z.string().check(z.maxLength(100)),
      pageLoadStrategy: z.optional(z.string().check(z.maxLength(100))),
      strictFileInteractability: z.optional(z.boolean()),
      timeouts: z.optional(z.record(z.string(), z.nullable(z.number()))),
      unhandledPromptBehavior: z.optional(z.union([z.string(), z.record(z.string(), z.string())])),
    }),
    driverVersion: z.string().check(z.maxLength(100)),
  }),
});
const Refused = z.object({ value: z.object({ message: z.string() }) });

export interface NewSession {
  readonly sessionId: string;
  readonly capabilities: Record<string, unknown>;
}

export class SessionStarts {
  readonly #parts: DialectParts;
  readonly #line = new WaitingLine();

  constructor(parts: DialectParts) {
    this.#parts = parts;
  }

  /** @throws {ServiceError} as `browsers.create`, or if the driver cannot start. */
  async start(
    caller: DialectCaller,
    body: { readonly capabilities?: unknown },
    signal: AbortSignal,
  ): Promise<NewSession> {
    const wanted = readCapabilities(body);
    const { access, calls } = caller;
    const { sessions, signer } = this.#parts;
    const origin = { dialect: "webdriver", ...(wanted.name !== undefined && { metadata: { name: wanted.name } }) };
    const waits = { line: this.#line, untilMs: performance.now() + waitMs };
    const asked = { create: wanted.create, origin, proxy: wanted.proxy };
    const browser = await createBrowserFor(this.#parts, asked, { calls, signal, waits });
    const { session_id: id, webdriver_ws_url: socket } = browser;
    try {
      const instance = await sessions.instanceHere(access.projectId, id);
      const { capabilities, driverVersion } = await startDriver(instance, id, { wanted, signal });
      const { browserVersion } = capabilities;
      if (wanted.major !== "" && !browserVersion.startsWith(`${wanted.major}.`))
        throw new ServiceError(400, "bad_request", `this service runs Chromium ${browserVersion}`, {
          field: "browserVersion",
          hint: 'Ask for "stable", or omit it.',
        });
      const sessionId = signer.secrets.signSession(id, access.key.id);
      return {
        sessionId,
        capabilities: {
          ...capabilities,
          browserName: "chrome",
          platformName: "linux",
          setWindowRect: true,
          chrome: { chromedriverVersion: driverVersion },
          // Clients look for this end of the path.
          "se:cdp": `${access.baseUrl.replace(/^http/, "ws")}/session/${sessionId}/se/cdp`,
          "se:cdpVersion": browserVersion,
          ...(wanted.wantsSocket && { webSocketUrl: socket }),
          ...(wanted.wantsDownloads && { "se:downloadsEnabled": true }),
          "shoal:session": id,
          ...(await this.#filmOf(id, access.baseUrl)),
          ...(browser.browser_live_view_url !== undefined && { "shoal:liveView": browser.browser_live_view_url }),
          "shoal:ignored": wanted.ignored,
        },
      };
    } catch (error) {
      await sessions.delete(access.projectId, id).catch(() => undefined);
      throw error;
    }
  }

  /** The film of the session is complete when it has ended. */
  async #filmOf(id: string, baseUrl: string): Promise<{ readonly "shoal:video"?: string }> {
    const { filmUrl, replays } = this.#parts;
    const [first] = await replays.list(id);
    return first === undefined ? {} : { "shoal:video": filmUrl(id, first.replay_id, baseUrl) };
  }
}

async function startDriver(
  instance: Instance,
  sessionId: string,
  { signal, wanted: { driver } }: { readonly wanted: WantedSession; readonly signal: AbortSignal },
): Promise<z.output<typeof Started>["value"]> {
  const body = JSON.stringify(driver);
  let document: unknown;
  let status: number | undefined;
  try {
    const answer = await instance.request(
      {
        method: "POST",
        path: "/wd/session",
        headers: { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) },
        signal: anySignal([signal, AbortSignal.timeout(driverMs)]),
      },
      body,
    );
    status = answer.statusCode;
    document = await answerJson(answer);
    if (status === 200) return Started.parse(document).value;
  } catch (error) {
    throw noAnswer(error, sessionId);
  }
  const refused = Refused.safeParse(document);
  throw new ServiceError(
    status === 400 ? 400 : 503,
    status === 400 ? "bad_request" : "browser_not_running",
    refused.success ? refused.data.value.message.slice(0, 1000) : "The driver of the session did not start.",
  );
}
