import { contract } from "@shoal/contract";
import { outsidePolicy } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import type { FlowBrowser } from "@shoal/schemas";
import { RegionElsewhere } from "../../../cluster/elsewhere.ts";
import type { Access, PresentAccess } from "../../../http/auth/access.ts";
import { mayMoveSecrets, mayUseSecrets, refuseWithoutRights } from "../../../http/auth/rights.ts";
import type { Log } from "../../../log/log.ts";
import { enderOf } from "../../browsers/lifecycle.ts";
import type { Sessions } from "../../browsers/sessions.ts";
import type { SessionRow } from "../../browsers/session-store.ts";
import type { SignInBrowsers } from "../../live-view/sign-in-browsers.ts";
import type { WaitingLine } from "../../waiting/waiting-line.ts";

export interface RowSessionParts {
  readonly sessions: Pick<Sessions, "create" | "delete" | "get">;
  readonly signInBrowsers: Pick<SignInBrowsers, "refuse">;
  readonly presentAccess: PresentAccess;
  readonly line: WaitingLine;
  readonly log: Log;
}

/** The session of a row. */
export interface RowSession {
  /** Whether the session ends with the row. */
  readonly endsWithRow: boolean;
  /** @returns the id of the session. @throws {ServiceError} */
  readonly open: (signal: AbortSignal) => Promise<string>;
  /** Before each step. @throws {ServiceError} 401, 403 or 404 if the caller has lost the right to the run or the session. */
  readonly admit: () => Promise<void>;
  /** Never rejects. */
  readonly end: (sessionId: string) => Promise<void>;
}

/** The new session ends then should the server be lost. Seconds. */
const idleSeconds = 60;
/** Longest wait for a place for the session. Milliseconds. */
const placeMs = 300_000;

/** The request for the browser of a row. */
export function requestOf(browser: FlowBrowser | undefined): Parameters<Sessions["create"]>[1] {
  const { conditions, location, profile, proxy, replay, stealth, viewport } = browser ?? {};
  return {
    timeout_seconds: idleSeconds,
    ...(stealth !== undefined && { stealth }),
    ...(proxy && { proxy }),
    ...(viewport && { viewport }),
    ...(location && { location }),
    ...(conditions && { conditions }),
    ...(replay && { replay }),
    ...(profile && { profile: { ...profile, save_changes: false } }),
  } as Parameters<Sessions["create"]>[1];
}

/** A new session for one row. */
export function newRowSession(parts: RowSessionParts, access: Access, browser: FlowBrowser | undefined): RowSession {
  const { line, log, presentAccess, sessions } = parts;
  const { key, projectId } = access;
  return {
    endsWithRow: true,
    admit: async () => {
      refuseWithoutRights(await presentAccess(access), contract.startFlowRun);
    },
    async open(signal) {
      const usesSecrets = mayUseSecrets(await presentAccess(access));
      const untilMs = performance.now() + placeMs;
      return line.take(projectId, { signal, untilMs }, async () => {
        const wishes = { apiKeyId: key.id, origin: { dialect: "flow" }, usesSecrets };
        const view = await sessions.create(projectId, requestOf(browser), signal, wishes);
        if (view instanceof RegionElsewhere) throw view.toError();
        return view.row.id;
      });
    },
    async end(sessionId) {
      await sessions.delete(projectId, sessionId, enderOf(access)).catch((error: unknown) => {
        // It has ended already.
        if (!ServiceError.isInstance(error) || error.status !== 404)
          log.warn({ session_id: sessionId, err: error }, "the session of a flow's run could not be ended");
      });
    },
  };
}

/** A session of the caller, which goes on after the row. */
export function callersRowSession(parts: RowSessionParts, access: Access, sessionId: string): RowSession {
  const admit = async (): Promise<void> => {
    await findCallersSession(parts, { ...access, ...(await parts.presentAccess(access)) }, sessionId);
  };
  return {
    endsWithRow: false,
    admit,
    async open() {
      await admit();
      return sessionId;
    },
    end: () => Promise.resolve(),
  };
}

/** @throws {ServiceError} 403 for a caller that may not act in the session, 404. */
export async function findCallersSession(
  { sessions, signInBrowsers }: Pick<RowSessionParts, "sessions" | "signInBrowsers">,
  access: Pick<Access, "handoff" | "key" | "projectId" | "role">,
  idOrName: string,
): Promise<SessionRow> {
  const { actOnPage } = contract;
  const { key, projectId } = access;
  refuseWithoutRights(access, actOnPage);
  const { row } = await sessions.get(projectId, idOrName, false);
  const { policy } = key;
  if (
    policy !== undefined &&
    policy.permit(actOnPage, projectId, { id: row.id, profileId: row.profile_id }) === undefined
  )
    throw ServiceError.of(outsidePolicy(actOnPage.operationId, "body.session"));
  if (!mayMoveSecrets(access)) await signInBrowsers.refuse(projectId, row.id, actOnPage);
  return row;
}
