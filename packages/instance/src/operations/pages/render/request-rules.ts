import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { FollowedPage, FrameTarget } from "../follow/followed-page.ts";
import type { RenderMore } from "../../../protocol/render-frame.ts";
import type { RenderRequest } from "./render-request.ts";

const blockedTypes = {
  image: "Image",
  font: "Font",
  stylesheet: "Stylesheet",
  script: "Script",
  media: "Media",
} as const satisfies Readonly<Record<NonNullable<RenderRequest["block"]>[number], Protocol.Network.ResourceType>>;

type Rules = Pick<RenderRequest, "block" | "headers" | "http_auth"> & Pick<RenderMore, "answered" | "blocked">;

interface Answered {
  readonly pattern: RegExp;
  readonly response: Omit<Protocol.Fetch.FulfillRequestRequest, "requestId">;
}

/**
 * Changes requests of a page: adds headers for one origin, answers its HTTP authentication once, and blocks types. Without
 * credentials, the page that a site sends with its request for authentication is shown.
 */
export class RequestRules {
  readonly #page: FollowedPage;
  readonly #origin: string | undefined;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #auth: RenderRequest["http_auth"];
  readonly #blocked: ReadonlySet<string>;
  readonly #blockedAddresses: readonly RegExp[];
  readonly #answers: readonly Answered[];
  readonly #patterns: readonly Protocol.Fetch.RequestPattern[];
  readonly #answered = new Set<string>();

  private constructor(page: FollowedPage, origin: string | undefined, request: Rules) {
    const { answered = [], block = [], blocked = [], headers = {}, http_auth: auth } = request;
    this.#page = page;
    this.#origin = origin;
    this.#headers = headers;
    this.#auth = auth;
    this.#blocked = new Set(block.map((name) => blockedTypes[name]));
    this.#blockedAddresses = blocked.map((pattern) => new RegExp(pattern));
    this.#answers = answered.map(({ body, headers: sent, pattern, status }) => ({
      pattern: new RegExp(pattern),
      response: {
        responseCode: status,
        responseHeaders: Object.entries(sent).map(([name, value]) => ({ name, value })),
        body,
      },
    }));
    const changes = Object.keys(headers).length > 0 || auth !== undefined;
    this.#patterns = [
      ...(changes && origin !== undefined ? [{ urlPattern: `${origin}/*` }] : []),
      ...(blocked.length + answered.length > 0 ? [{ urlPattern: "*" }] : []),
      ...[...this.#blocked].map((type) => ({ urlPattern: "*", resourceType: type as Protocol.Network.ResourceType })),
      // A full Chromium would open a dialog for HTTP authentication, which nothing answers.
      ...(page.cdp.dialogs === undefined ? [] : [{ urlPattern: "*", resourceType: "Document" as const }]),
    ];
  }

  static async open(page: FollowedPage, origin: string | undefined, request: Rules): Promise<void> {
    const rules = new RequestRules(page, origin, request);
    if (rules.#patterns.length > 0) await rules.#begin();
  }

  async #begin(): Promise<void> {
    const page = this.#page;
    const { cdp } = page;
    page.on("Fetch.requestPaused", (event, target) => {
      this.#answer(event, target);
    });
    page.on("Fetch.authRequired", ({ authChallenge, requestId, request }, { sessionId }) => {
      const response = this.#challenged(authChallenge, request.url, requestId);
      cdp
        .send("Fetch.continueWithAuth", { requestId, authChallengeResponse: response }, sessionId)
        .catch(() => undefined);
    });
    const enable = (sessionId: string) =>
      cdp
        .send("Fetch.enable", { patterns: [...this.#patterns], handleAuthRequests: true }, sessionId)
        .catch(() => undefined);
    page.on("Target.attachedToTarget", ({ sessionId }) => void enable(sessionId));
    await Promise.all(page.targets.map(({ sessionId }) => enable(sessionId)));
  }

  #answer({ frameId, request, requestId, resourceType }: Protocol.Fetch.RequestPausedEvent, target: FrameTarget): void {
    const { cdp } = this.#page;
    const isPage = resourceType === "Document" && this.#page.isMainFrame(target, frameId);
    const isBlocked =
      this.#blocked.has(resourceType) || this.#blockedAddresses.some((pattern) => pattern.test(request.url));
    const answer = this.#answers.find(({ pattern }) => pattern.test(request.url));
    if (answer !== undefined) {
      cdp.send("Fetch.fulfillRequest", { requestId, ...answer.response }, target.sessionId).catch(() => undefined);
      return;
    }
    if (isBlocked && !isPage) {
      const blocked = { requestId, errorReason: "BlockedByClient" as const };
      cdp.send("Fetch.failRequest", blocked, target.sessionId).catch(() => undefined);
      return;
    }
    const added = Object.entries(this.#isOrigin(request.url) ? this.#headers : {});
    const names = new Set(added.map(([name]) => name.toLowerCase()));
    const kept = Object.entries(request.headers).filter(([name]) => !names.has(name.toLowerCase()));
    // The browser applies the overrides to this hop only: a redirect elsewhere does not get them.
    const headers = [...kept, ...added].map(([name, value]) => ({ name, value }));
    cdp
      .send("Fetch.continueRequest", { requestId, ...(added.length > 0 && { headers }) }, target.sessionId)
      .catch(() => undefined);
  }

  #challenged(
    { origin, source }: Protocol.Fetch.AuthChallenge,
    url: string,
    requestId: string,
  ): Protocol.Fetch.AuthChallengeResponse {
    if (source === "Proxy") return { response: "Default" };
    const isFirst = !this.#answered.has(requestId);
    if (this.#auth === undefined || !isFirst || origin !== this.#origin || !this.#isOrigin(url))
      return { response: "CancelAuth" };
    if (this.#answered.size < 1_000) this.#answered.add(requestId);
    return { response: "ProvideCredentials", ...this.#auth };
  }

  #isOrigin(url: string): boolean {
    return this.#origin !== undefined && URL.parse(url)?.origin === this.#origin;
  }
}
