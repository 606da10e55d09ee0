import { allowedHosts, type LoginPlan } from "@shoal/login";
import { ServiceError } from "@shoal/router";
import type { Log } from "../../log/log.ts";
import type { ConnectionRow } from "../connections/connection-row.ts";
import { LoginBrowser, type LoginBrowserParts } from "../logins/login-browser.ts";
import type { SignIn } from "../logins/sign-in.ts";
import type { CheckResult } from "./check-result.ts";

/** Starting a browser, looking at a page, and saving the profile together. */
const maxSeconds = 150;

export interface ConnectionCheckerParts extends LoginBrowserParts {
  readonly signIn: SignIn;
  readonly log: Log;
}

/** Looks with the browser of a connection whether its profile is still signed in. */
export class ConnectionChecker {
  readonly #parts: ConnectionCheckerParts;

  constructor(parts: ConnectionCheckerParts) {
    this.#parts = parts;
  }

  /**
   * Saves the profile when it is signed in, because sites change cookies, and otherwise leaves it as it was.
   * @throws {ServiceError} 409 while another browser writes to the profile; 429, 503 and 529 without room for a browser.
   * Rejects when `signal` aborts.
   */
  async check(connection: ConnectionRow, signal: AbortSignal): Promise<CheckResult> {
    let browser: LoginBrowser;
    try {
      browser = await LoginBrowser.open(this.#parts, connection, {
        maxSeconds,
        signal,
        signsIn: false,
        waitsForProfile: false,
      });
    } catch (error) {
      if (signal.aborted || mayPass(error)) throw error;
      return this.#failed(connection, error);
    }
    try {
      const verdict = await this.#look(connection, browser, signal);
      const isSaved = verdict.status !== "signed_in" || (await browser.endSaving());
      return {
        ...verdict,
        ...(!isSaved && { reason: "The profile is signed in, but could not be saved." }),
        sessionId: browser.sessionId,
        capturedTelemetry: browser.capturesTelemetry,
        ...(browser.replayId !== undefined && { replayId: browser.replayId }),
      };
    } finally {
      await browser.end();
    }
  }

  async #look(connection: ConnectionRow, browser: LoginBrowser, signal: AbortSignal): Promise<CheckResult> {
    const { allowed_domains, domain, login_url, plan: stored, post_login_url } = connection;
    // `LoginRun` wrote it.
    const plan = (stored as unknown as LoginPlan | null) ?? { start_url: login_url ?? `https://${domain}/`, steps: [] };
    const end_url = plan.end_url ?? post_login_url ?? undefined;
    try {
      const options = {
        plan: { ...plan, ...(end_url !== undefined && { end_url }) },
        hosts: allowedHosts(domain, allowed_domains),
      };
      const verdict = await this.#parts.signIn.check(browser.page(signal), options, { connection, signal });
      // The address says nothing new about a profile that is signed in.
      return verdict.status === "signed_in" ? { status: "signed_in" } : verdict;
    } catch (error) {
      if (signal.aborted) throw error;
      return this.#failed(connection, error);
    }
  }

  #failed({ id }: ConnectionRow, error: unknown): CheckResult {
    this.#parts.log.warn({ connection_id: id, err: error }, "a health check failed");
    const isRefused = ServiceError.isInstance(error) && error.status < 500;
    const reason = isRefused ? error.message : "The browser of the check ended or did not answer.";
    return { status: "unknown", code: "browser_error", reason };
  }
}

/** Another browser has the profile or the last place. */
function mayPass(error: unknown): boolean {
  return ServiceError.isInstance(error) && [409, 429, 503, 529].includes(error.status);
}
