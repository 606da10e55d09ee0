import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import { isAmongHosts, isAmongOrigins } from "../../protocol/page.ts";
import type { PageLog } from "./page-log.ts";

interface Answer {
  readonly username: string;
  readonly password: string;
  readonly hosts: readonly string[];
  readonly origins?: readonly string[];
}

/** Observes HTTP authentication of documents, which otherwise opens the browser's own dialog, and answers it once. */
export class HttpAuthentication {
  readonly #cdp: CdpConnection;
  readonly #log: PageLog;
  readonly #isOwn: (sessionId: string | undefined) => boolean;
  #answer: Answer | undefined;

  constructor(cdp: CdpConnection, log: PageLog, isOwn: (sessionId: string | undefined) => boolean) {
    this.#cdp = cdp;
    this.#log = log;
    this.#isOwn = isOwn;
  }

  follow(): readonly (() => void)[] {
    const cdp = this.#cdp;
    return [
      cdp.on("Fetch.requestPaused", ({ requestId }, sessionId) => {
        if (this.#isOwn(sessionId)) cdp.send("Fetch.continueRequest", { requestId }, sessionId).catch(() => undefined);
      }),
      cdp.on("Fetch.authRequired", ({ requestId, authChallenge, request }, sessionId) => {
        if (!this.#isOwn(sessionId)) return;
        const authChallengeResponse = this.#respond(authChallenge, request.url);
        cdp.send("Fetch.continueWithAuth", { requestId, authChallengeResponse }, sessionId).catch(() => undefined);
      }),
    ];
  }

  enable(sessionId: string): Promise<unknown> {
    const patterns = [{ urlPattern: "*", resourceType: "Document" as const }];
    return this.#cdp.send("Fetch.enable", { patterns, handleAuthRequests: true }, sessionId);
  }

  /** Answers the next challenge of one of the hosts. */
  answerNext(answer: Answer): void {
    this.#answer = answer;
  }

  #respond(
    { source, scheme, realm }: { readonly source?: string; readonly scheme: string; readonly realm: string },
    address: string,
  ) {
    if (source === "Proxy") return { response: "Default" as const };
    const { hostname: host = "", origin } = URL.parse(address) ?? {};
    const answer = this.#answer;
    this.#answer = undefined;
    if (
      answer !== undefined &&
      isAmongHosts(host, answer.hosts) &&
      (answer.origins === undefined || isAmongOrigins(address, answer.origins))
    )
      return { response: "ProvideCredentials" as const, username: answer.username, password: answer.password };
    this.#log.challenged({
      host,
      ...(origin !== undefined && { origin }),
      scheme: scheme.slice(0, 64),
      realm: realm.slice(0, 300),
    });
    return { response: "CancelAuth" as const };
  }
}
