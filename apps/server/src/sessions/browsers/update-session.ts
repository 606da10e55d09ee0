import { refuseFullBrowserOptions } from "@shoal/contract/refusals";
import type { HeaderSource, Instance } from "@shoal/placement";
import { KeyedMutex } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { UpdateBrowser } from "@shoal/schemas";
import type * as z from "zod/mini";
import { Elsewhere } from "../../cluster/elsewhere.ts";
import type { Log } from "../../log/log.ts";
import { isUniqueViolation } from "../../storage/errors/database-errors.ts";
import type { ReplayStore } from "../replays/replay-store.ts";
import { selectCategories } from "../telemetry/categories.ts";
import { explainDestination } from "../telemetry/export/choice.ts";
import { refuseSavedReplay } from "../network-recordings/recording-options.ts";
import { answeringInstance } from "./answering-instance.ts";
import { changeSeen, changeWays } from "./change-ways.ts";
import { exitHeadersFrom, refuseHeaders } from "./options/exit-headers.ts";
import { allowlistAfter, egressRulesOf, refuseOutsidePage } from "./options/allowlist.ts";
import { refuseWebRtcPolicies } from "./options/possible-options.ts";
import { applyPolicies } from "./options/chrome-policy.ts";
import { networkRulesOf } from "../../resources/projects/network-rules.ts";
import type { SessionOptions } from "./options/session-options.ts";
import { seenFields, type SeenOptions } from "./options/seen-change.ts";
import { openStartPage, refuseAddress } from "./options/start-page.ts";
import { changeViewport, effectiveViewport } from "./options/viewport.ts";
import type { RunningSession, SessionView } from "./running-session.ts";
import { nameTaken, notFound, refuseImpossible } from "./session-errors.ts";
import type { SessionRunner } from "./session-runner.ts";
import type { SessionChanges, SessionRow, SessionStore } from "./session-store.ts";
import type { SessionTelemetry } from "./session-telemetry.ts";
import { defaultViewport, type SessionChoices } from "./start/session-choices.ts";
import { hasProfile, type SessionStarter } from "./start/session-starter.ts";

type Request = z.output<typeof UpdateBrowser>;

export interface SessionUpdatesParts {
  readonly runner: SessionRunner;
  readonly choices: SessionChoices;
  readonly starter: SessionStarter;
  readonly sessionTelemetry: SessionTelemetry;
  readonly store: Pick<SessionStore, "update">;
  readonly replays: Pick<ReplayStore, "keep" | "noteStop">;
  readonly handoffs: {
    admit(sessionId: string, signal: AbortSignal): Promise<void>;
    requireNone(sessionId: string): Promise<void>;
  };
  readonly existing: (projectId: string, idOrName: string) => Promise<SessionRow>;
  readonly log: Log;
}

interface UpdateCaller {
  readonly signal: AbortSignal;
  /** See `mayUseSecrets`. */
  readonly usesSecrets: boolean;
}

interface Plan {
  readonly changes: SessionChanges;
  readonly chosen: Awaited<ReturnType<SessionChoices["proxy"]>>;
  readonly options: SessionOptions | undefined;
  /** `undefined` = unchanged. */
  readonly headers: { readonly source: HeaderSource | undefined } | undefined;
  readonly profile: Awaited<ReturnType<SessionChoices["profile"]>> | undefined;
  /** The part of `options` that a browser starts with; `undefined` = unchanged. */
  readonly seen: SeenOptions | undefined;
  /** Present if the update changes the instance. */
  readonly running: { readonly session: RunningSession; readonly instance: Instance } | undefined;
  readonly viewport: ReturnType<typeof effectiveViewport> | undefined;
}

export class SessionUpdates {
  readonly #parts: SessionUpdatesParts;
  /** By session, not by instance: each request has its own wrapper of the instance. */
  readonly #changing = new KeyedMutex<string>();

  constructor(parts: SessionUpdatesParts) {
    this.#parts = parts;
  }

  /** Applies every field of a request, or none; then opens its page. */
  async update(projectId: string, idOrName: string, request: Request, by: UpdateCaller): Promise<SessionView> {
    if (!by.usesSecrets) refuseHeaders(request.network);
    const { handoffs } = this.#parts;
    const { chrome_policy, sleep_after_seconds } = request;
    this.#parts.choices.refuseUnable({ ...seenFields(request), chrome_policy, sleep_after_seconds });
    refuseImpossible({ viewport: request.viewport, start_url: request.start_url });
    if (request.start_url) refuseAddress(request.start_url);
    const { id } = await this.#parts.existing(projectId, idOrName);
    const isSeen = changesWhatIsSeen(request);
    if (isSeen) await handoffs.admit(id, by.signal);
    return this.#changing.run(id, async () => {
      // Again: one may have begun meanwhile. It waits for changes that have passed here.
      if (isSeen) await handoffs.requireNone(id);
      return this.#change(await this.#parts.existing(projectId, id), request);
    });
  }

  async settled(id: string): Promise<void> {
    await this.exclusively(id, async () => undefined);
  }

  /** Runs work while no change of the session runs. A handoff that begins waits for its end. */
  exclusively<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    return this.#changing.run(id, work);
  }

  async #change(present: SessionRow, request: Request): Promise<SessionView> {
    const { runner } = this.#parts;
    const plan = await this.#plan(present, request);
    const { changes, running } = plan;
    const isStored = Object.keys(changes).length > 0;
    if (!isStored && running === undefined) return runner.view(present);
    let row = isStored ? await this.#write(present, changes) : present;
    if (running !== undefined) row = await this.#apply({ present, row, request }, plan, running);
    runner.rename(row);
    if (running !== undefined && request.start_url)
      await openStartPage(running.instance, request.start_url, Object.keys(request).length === 1);
    return runner.view(row);
  }

  /** Checks everything that can fail without a change. */
  async #plan(present: SessionRow, request: Request): Promise<Plan> {
    const { choices, runner } = this.#parts;
    const { id, project_id } = present;
    const { isolation } = present.options;
    const { chrome_policy, profile: wanted, sleep_after_seconds } = request;
    refuseSavedReplay(wanted, present.options.replay);
    const seenFrom = seenFields(request);
    const unforkable =
      present.options.forkable === true ? refuseFullBrowserOptions({ ...request, ...seenFrom }) : undefined;
    if (unforkable !== undefined) throw ServiceError.of(unforkable);
    if (isolation !== undefined)
      choices.refuseUnable({ ...seenFrom, chrome_policy, isolation, profile: wanted, sleep_after_seconds });
    const [profile, chosen] = await Promise.all([
      request.profile && choices.profile(project_id, request.profile),
      choices.proxy(project_id, { ...request, isolation }, id),
    ]);
    if (profile && present.profile_id !== null) throw hasProfile(id, present.profile_id);
    const headers = await this.#headers(present, request);
    const seen = await choices.seen(present, request, chosen);
    const options = optionsWith(
      headers === undefined ? request : { ...request, network: headers.network },
      present.options,
      seen,
    );
    refuseOutsidePage(request.start_url, options ?? present.options);
    refuseWebRtcPolicies((options ?? present.options).chrome_policy, options ?? present.options);
    let running: Plan["running"];
    if (chosen !== undefined || options || profile || request.telemetry || request.viewport || request.start_url) {
      const session = runner.sessions.get(id);
      if (session === undefined) throw new Elsewhere(id, present.server_id).toError();
      running = { session, instance: answeringInstance(runner.instanceOf(session), session) };
    }
    if (request.telemetry) selectCategories(request.telemetry, running?.session.captured);
    const destination = await choices.destination(project_id, request.telemetry, present.telemetry_destination_id);
    const name = request.name === "" ? null : request.name;
    const viewport = request.viewport && effectiveViewport(request.viewport, present.headless);
    const changes: SessionChanges = {
      ...(name !== undefined && { name }),
      ...(request.tags && { tags: request.tags }),
      ...(chosen !== undefined && { proxy: chosen?.shown ?? null }),
      ...(options && { options }),
      ...(viewport && { viewport }),
      ...(request.start_url && { start_url: request.start_url }),
      ...(destination !== present.telemetry_destination_id && { telemetry_destination_id: destination }),
      ...(profile && { ...profile, profile_version: null }),
    };
    return { changes, chosen, headers, options, profile, running, seen, viewport };
  }

  /** The settings after an update that names headers, and their source. @throws {ServiceError} as `browsers.create`. */
  async #headers({ options, project_id: projectId }: SessionRow, { network }: Request) {
    if (network?.headers === undefined && network?.http_auth === undefined) return undefined;
    const { headers = options.headers, http_auth = options.http_auth } = network;
    const { isolation } = options;
    return this.#parts.choices
      .headers(projectId, { isolation, network: { ...network, headers, http_auth } })
      .catch((error: unknown) => {
        throw explainKept(error, network);
      });
  }

  /** First, because a taken name or profile is refused here. */
  async #write(present: SessionRow, changes: SessionChanges): Promise<SessionRow> {
    const { starter, store } = this.#parts;
    try {
      const row = await store.update(present.id, changes);
      if (row !== undefined) return row;
    } catch (error) {
      const explained = await starter.explainProfile(changes.profile_id ?? null, explainDestination(error));
      if (explained !== error) throw explained;
      throw typeof changes.name === "string" && isUniqueViolation(error) ? nameTaken(changes.name) : error;
    }
    throw notFound(present.id);
  }

  /** Changes the instance; reverts everything, and the row, if one step fails. */
  async #apply(
    { present, row, request }: { readonly present: SessionRow; readonly row: SessionRow; readonly request: Request },
    { changes, chosen, headers, options, profile, seen, viewport }: Plan,
    { instance, session }: NonNullable<Plan["running"]>,
  ): Promise<SessionRow> {
    const { id } = present;
    const undo: (() => Promise<unknown>)[] = [];
    try {
      if (viewport) {
        await this.#resize(present, instance, viewport, request.viewport?.force);
        undo.push(() => this.#resize(present, instance, present.viewport ?? defaultViewport, true));
      }
      if (request.telemetry) undo.push(await this.#parts.sessionTelemetry.change(present, request.telemetry));
      if (options && request.sleep_after_seconds !== undefined) {
        undo.push(async () => {
          instance.sleep.after(present.options.sleep_after_seconds ?? 0);
        });
        instance.sleep.after(request.sleep_after_seconds);
      }
      if (request.disconnect_timeout_seconds !== undefined) {
        const had = session.row.options;
        session.row = { ...session.row, options: row.options };
        session.presence?.look();
        undo.push(async () => {
          session.row = { ...session.row, options: had };
          session.presence?.look();
        });
      }
      if (options && request.network) {
        undo.push(async () => {
          instance.setRules("session", egressRulesOf(present.options));
        });
        instance.setRules("session", egressRulesOf(options));
      }
      if (options && request.chrome_policy) {
        // Before the change: policies that the browser refused would apply at its next start.
        undo.push(() => applyPolicies(instance, present.options.chrome_policy ?? {}));
        await applyPolicies(instance, options.chrome_policy ?? {});
      }
      const of = { id, timeoutSeconds: present.timeout_seconds };
      if (seen) {
        undo.push(() => changeSeen(instance, of, present.options));
        await changeSeen(instance, of, seen);
      }
      if (chosen !== undefined || headers !== undefined) {
        const { exitHeaders, upstream } = instance;
        await changeWays(instance, of, {
          upstream: chosen === undefined ? upstream : chosen?.upstream,
          exitHeaders: headers === undefined ? exitHeaders : changedHeaders(exitHeaders, headers.source),
        });
        undo.push(() => changeWays(instance, of, { exitHeaders, upstream }));
      }
      // Last: a loaded profile cannot be removed from a browser.
      if (!profile) return row;
      const adopted = await this.#parts.starter.adoptProfile(session, profile);
      if (adopted === undefined) throw notFound(id);
      return adopted;
    } catch (error) {
      for (const step of [...undo.reverse(), () => this.#parts.store.update(id, before(present, changes))]) {
        await step().catch((failure: unknown) => {
          this.#parts.log.warn({ session_id: id, err: failure }, "a failed change of a session could not be reverted");
        });
      }
      throw error;
    }
  }

  async #resize(
    { id, project_id: projectId }: SessionRow,
    instance: Instance,
    viewport: Parameters<typeof changeViewport>[1],
    force: boolean | undefined,
  ): Promise<void> {
    const { log, replays } = this.#parts;
    const begun = await changeViewport(instance, viewport, force);
    if (begun.length > 0) replays.noteStop(id);
    for (const { continues, replay } of begun)
      await replays.keep({ id, projectId }, instance, replay, continues).catch((error: unknown) => {
        log.warn(
          { session_id: id, replay_id: replay.replay_id, err: error },
          "a recording could not continue after a change of the viewport",
        );
      });
  }
}

/** Keeps the authority, which the browser trusts already. */
function changedHeaders(present: Instance["exitHeaders"], source: HeaderSource | undefined): Instance["exitHeaders"] {
  if (present === undefined) return exitHeadersFrom(source);
  // Without another authority, which would restart the browser.
  const { authority, player, recorder } = present;
  const kept = exitHeadersFrom(source, { player, recorder });
  return kept && { ...kept, authority };
}

/** Changes of names, labels, telemetry and sleep are possible during a handoff. */
function changesWhatIsSeen({
  disconnect_timeout_seconds: _disconnect,
  name: _name,
  sleep_after_seconds: _sleep,
  tags: _tags,
  telemetry: _telemetry,
  ...others
}: Request): boolean {
  return Object.values(others).some((value) => value !== undefined);
}

/** @throws {ServiceError} 400 for an invalid entry of the network rules, 409 for an outdated `allowed_hosts`. */
function optionsWith(
  { chrome_policy, disconnect_timeout_seconds: disconnect, network, sleep_after_seconds: sleep }: Request,
  present: SessionOptions,
  seen: SeenOptions | undefined,
): SessionOptions | undefined {
  const {
    allowlist: _presentList,
    chrome_policy: presentPolicies = {},
    disconnect_timeout_seconds: presentDisconnect,
    headers: presentHeaders = [],
    http_auth: presentAuth = [],
    network_rules: presentRules,
    sleep_after_seconds: presentSleep = 0,
    conditions,
    exit_timezone,
    location,
    ...others
  } = present;
  const sleepAfter = sleep ?? presentSleep;
  const policies = chrome_policy ?? presentPolicies;
  const rules = networkRulesOf(network, presentRules);
  const allowlist = allowlistAfter(network ?? {}, present);
  const removesNothing = Object.keys(policies).length === 0 && Object.keys(presentPolicies).length === 0;
  const disconnectTimeout = disconnect === undefined ? presentDisconnect : (disconnect ?? undefined);
  const isRest = network === undefined && sleep === undefined && disconnect === undefined && seen === undefined;
  if (isRest && (chrome_policy === undefined || removesNothing)) return undefined;
  return {
    ...others,
    ...(seen ?? {
      ...(location && { location }),
      ...(exit_timezone !== undefined && { exit_timezone }),
      ...(conditions && { conditions }),
    }),
    ...(disconnectTimeout !== undefined && { disconnect_timeout_seconds: disconnectTimeout }),
    ...(sleepAfter > 0 && { sleep_after_seconds: sleepAfter }),
    ...(rules && { network_rules: rules }),
    ...(allowlist && { allowlist }),
    ...headersWith(network, { headers: presentHeaders, http_auth: presentAuth }),
    ...(Object.keys(policies).length > 0 && { chrome_policy: policies }),
  };
}

/** Explains an error of settings that the session has and the request does not name. */
function explainKept(error: unknown, sent: NonNullable<Request["network"]>): unknown {
  if (!ServiceError.isInstance(error)) return error;
  const { code, field, problem, status } = error;
  const kept = (["headers", "http_auth"] as const).find((name) => sent[name] === undefined);
  if (kept === undefined || field?.startsWith(`body.network.${kept}[`) !== true) return error;
  const hint = `The session has network.${kept} already; send it too, without this entry or as null.`;
  return ServiceError.of({ status, code, problem, field, hint });
}

function headersWith(
  network: Request["network"],
  present: {
    readonly headers: NonNullable<SessionOptions["headers"]>;
    readonly http_auth: NonNullable<SessionOptions["http_auth"]>;
  },
): Pick<SessionOptions, "headers" | "http_auth"> {
  const { headers = present.headers, http_auth = present.http_auth } = network ?? {};
  return {
    ...(headers !== null && headers.length > 0 && { headers }),
    ...(http_auth !== null && http_auth.length > 0 && { http_auth }),
  };
}

function before(row: SessionRow, changes: SessionChanges): SessionChanges {
  return Object.fromEntries(Object.keys(changes).map((column) => [column, row[column as keyof SessionChanges]]));
}
