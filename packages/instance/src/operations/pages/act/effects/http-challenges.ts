import type { FollowedPage } from "../../follow/followed-page.ts";

/**
 * Passes the answer of a site that requests HTTP authentication to the page and its scripts. A full Chromium would open a
 * dialog instead, which nothing answers, and fail the navigation. During actions only: at other times, clients of the page answer.
 */
export class HttpChallenges {
  readonly #page: FollowedPage;

  constructor(page: FollowedPage) {
    this.#page = page;
    const { cdp } = page;
    page.on("Fetch.requestPaused", ({ requestId }, { sessionId }) => {
      cdp.send("Fetch.continueRequest", { requestId }, sessionId).catch(() => undefined);
    });
    page.on("Fetch.authRequired", ({ authChallenge, requestId }, { sessionId }) => {
      const response = authChallenge.source === "Proxy" ? "Default" : "CancelAuth";
      cdp
        .send("Fetch.continueWithAuth", { requestId, authChallengeResponse: { response } }, sessionId)
        .catch(() => undefined);
    });
  }

  begin(): void {
    const { cdp, targets } = this.#page;
    // A headless shell has no such dialog.
    if (cdp.dialogs === undefined) return;
    // Chromium reports the challenges of requests that it has paused.
    const patterns = (["Document", "XHR", "Fetch"] as const).map((resourceType) => ({ urlPattern: "*", resourceType }));
    for (const { sessionId } of targets)
      cdp.send("Fetch.enable", { patterns, handleAuthRequests: true }, sessionId).catch(() => undefined);
  }

  end(): void {
    const { cdp, targets } = this.#page;
    if (cdp.dialogs === undefined) return;
    for (const { sessionId } of targets) cdp.send("Fetch.disable", undefined, sessionId).catch(() => undefined);
  }
}
