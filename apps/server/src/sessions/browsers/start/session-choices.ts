import { needsOwnBrowser } from "@shoal/contract/refusals";
import type { EgressProxyRoute, HeaderSource, Placement } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { CreateBrowser, UpdateBrowser } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { Extensions } from "../../../resources/extensions/extensions.ts";
import type { ChosenProxy, Proxies } from "../../../resources/proxies/proxies.ts";
import type { TelemetryDestinations } from "../../../resources/telemetry-destinations/destinations.ts";
import { chooseDestination } from "../../telemetry/export/choice.ts";
import type { NetworkRecordings } from "../../network-recordings/network-recordings.ts";
import { type ChosenRecording, chooseRecording } from "../../network-recordings/recording-options.ts";
import { refuseOutsidePage } from "../options/allowlist.ts";
import { locationFor } from "../options/location.ts";
import { refuseAuthorities, refuseForkable, refuseSleep, refuseUnable } from "../options/possible-options.ts";
import { type HeaderSettings, openHeaders, type OpenForHosts, refuseHeaders } from "../options/exit-headers.ts";
import { routeHostsOf, routeWithAuthorities } from "../options/proxy-routes.ts";
import { memoryText, refuseMemory } from "../options/session-memory.ts";
import { optionsOf, type RequestedOptions, type SessionOptions } from "../options/session-options.ts";
import { seenAfter, type SeenOptions } from "../options/seen-change.ts";
import { effectiveViewport } from "../options/viewport.ts";
import type { PooledRequest, SessionWishes } from "../running-session.ts";
import type { SessionRules } from "../session-runner.ts";
import type { ChosenProfile, SessionProfiles } from "../session-profiles.ts";
import type { SessionRow } from "../session-store.ts";

export const defaultViewport = { width: 1920, height: 1080 };

type Vaults = NonNullable<SessionOptions["vaults"]>;
/** @throws {ServiceError} 404 for an unknown vault. */
export type ChooseVaults = (
  projectId: string,
  vaults: NonNullable<z.output<typeof CreateBrowser>["vaults"]>,
) => Promise<Vaults>;

interface ChosenRoutes<Request> {
  /** With canonical hosts of routes, and ids instead of names. */
  readonly request: Request;
  readonly routes?: readonly EgressProxyRoute[];
}

type InheritedOptions = ReturnType<typeof locationFor> & Pick<SessionOptions, "conditions" | "web_bot_auth">;

/** Settings of the network with canonical hosts and ids, and what they lead to. */
interface ChosenNetwork<Request> extends ChosenRoutes<Request> {
  readonly headers: HeaderSource | undefined;
}

export interface SessionChoicesParts {
  readonly placement: Pick<Placement, "abilities" | "kind" | "memory" | "sleep" | "unforkableBecause">;
  readonly proxies: Pick<Proxies, "choose" | "forSession">;
  readonly profiles: Pick<SessionProfiles, "choose" | "settingsOf">;
  readonly extensions: Pick<Extensions, "choose">;
  readonly destinations: Pick<TelemetryDestinations, "choose">;
  readonly networkRecordings: NetworkRecordings;
  readonly openForHosts: OpenForHosts;
  readonly chooseVaults: ChooseVaults;
  readonly serverId: string;
  readonly region: string;
  readonly rules: SessionRules;
}

/** Objects of the project that requests name, and how they are found. */
export type ChosenObjects = Pick<
  SessionChoicesParts,
  "chooseVaults" | "destinations" | "networkRecordings" | "openForHosts" | "proxies"
>;

/** Resolves the proxies, profiles, extensions and destinations that a request names, before anything starts. */
export class SessionChoices {
  readonly #parts: SessionChoicesParts;

  constructor(parts: SessionChoicesParts) {
    this.#parts = parts;
  }

  refuseUnable(request: Parameters<typeof refuseUnable>[0]): void {
    const { placement, rules } = this.#parts;
    refuseUnable(request, placement.abilities);
    refuseSleep(request, placement.sleep);
    refuseForkable(request, placement.unforkableBecause);
    refuseMemory(request, placement.memory, rules.maxMemoryBytes);
  }

  /** @returns `undefined` if the request does not mention a proxy, `null` if it removes the proxy. */
  async proxy(
    projectId: string,
    {
      isolation,
      own,
      proxy,
      proxy_id,
    }: Pick<z.output<typeof UpdateBrowser>, "proxy" | "proxy_id"> &
      Pick<z.output<typeof CreateBrowser>, "isolation"> & { readonly own?: SessionWishes["proxy"] | undefined },
    sessionId: string,
  ): Promise<Partial<ChosenProxy> | null | undefined> {
    if (own !== undefined) return this.#parts.proxies.forSession(own, sessionId);
    // Without a default proxy, both modes mean the same.
    if (proxy?.mode !== undefined) return { shown: { mode: proxy.mode } };
    if (proxy === undefined && (proxy_id === null || proxy_id === "")) return null;
    const wanted = proxy ?? (proxy_id === undefined || proxy_id === null ? undefined : { id: proxy_id });
    if (wanted === undefined) return undefined;
    const chosen = await this.#parts.proxies.choose(projectId, wanted, sessionId);
    if (chosen.upstream.authorities !== undefined) {
      if (isolation === "context")
        throw ServiceError.of(
          needsOwnBrowser(proxy === undefined ? "proxy_id" : "proxy", "its ca_bundle applies to the whole browser"),
        );
      refuseAuthorities({ proxy }, this.#parts.placement.abilities);
    }
    return chosen;
  }

  /** Resolves the proxies of `proxy_routes`. */
  async #routes<Request extends Pick<RequestedOptions, "network">>(
    projectId: string,
    request: Request,
    sessionId: string,
  ): Promise<ChosenRoutes<Request>> {
    const { network } = request;
    const asked = network?.proxy_routes ?? [];
    if (asked.length === 0) return { request };
    const hosts = routeHostsOf(asked, network?.private_hosts);
    const chosen = await Promise.all(
      asked.map(async ({ proxy }, index) => {
        const found = await this.#parts.proxies.choose(projectId, proxy, sessionId);
        if (found.upstream.authorities !== undefined) throw ServiceError.of(routeWithAuthorities(index));
        return { hosts: [...(hosts[index] ?? [])], upstream: found.upstream, id: found.shown.id };
      }),
    );
    return {
      request: {
        ...request,
        network: { ...network, proxy_routes: chosen.map(({ hosts, id }) => ({ hosts, proxy: { id } })) },
      },
      routes: chosen.map(({ hosts, upstream }) => ({ hosts, upstream })),
    };
  }

  /** Resolves the objects that `network` names. @throws {ServiceError} 400, 403, or 404 for a missing object. */
  async network<Request extends Pick<RequestedOptions, "isolation" | "network">>(
    projectId: string,
    request: Request,
    { sessionId, usesSecrets }: { readonly sessionId: string; readonly usesSecrets: boolean | undefined },
  ): Promise<ChosenNetwork<Request>> {
    if (usesSecrets !== true) refuseHeaders(request.network);
    const routed = await this.#routes(projectId, request, sessionId);
    const { network } = routed.request;
    if (network === undefined) return { ...routed, headers: undefined };
    const opened = await this.headers(projectId, { network, isolation: request.isolation });
    return { ...routed, request: { ...routed.request, network: opened.network }, headers: opened.source };
  }

  /** @throws {ServiceError} as {@link openHeaders}. */
  headers<Network extends HeaderSettings>(
    projectId: string,
    of: { readonly network: Network; readonly isolation?: string | undefined },
  ): ReturnType<typeof openHeaders<Network>> {
    const { openForHosts: open, placement } = this.#parts;
    return openHeaders(projectId, of, { open, abilities: placement.abilities });
  }

  /** May read a whole recording: call it after all other checks. @throws {ServiceError} as {@link chooseRecording}. */
  recording(
    projectId: string,
    request: Parameters<typeof chooseRecording>[1],
    { signal, usesSecrets }: { readonly signal: AbortSignal; readonly usesSecrets: boolean | undefined },
  ): Promise<ChosenRecording> {
    const { networkRecordings: recordings, placement } = this.#parts;
    return chooseRecording(projectId, request, { recordings, abilities: placement.abilities, usesSecrets, signal });
  }

  async extensions(
    projectId: string,
    { extensions }: Pick<PooledRequest, "extensions">,
  ): Promise<{ readonly extension_ids?: readonly string[] }> {
    return extensions === undefined || extensions.length === 0
      ? {}
      : { extension_ids: await this.#parts.extensions.choose(projectId, extensions) };
  }

  /** @throws {ServiceError} 403 for a caller without the right to use vaults, 404. */
  async vaults(
    projectId: string,
    vaults: z.output<typeof CreateBrowser>["vaults"],
    mayUse: boolean | undefined,
  ): Promise<Pick<SessionOptions, "vaults">> {
    if (vaults === undefined || vaults.length === 0) return {};
    if (mayUse === true) return { vaults: await this.#parts.chooseVaults(projectId, vaults) };
    throw new ServiceError(403, "forbidden", "needs the right to use vaults", {
      field: "body.vaults",
      hint: "Use the key of an administrator, or a key with vaults:use.",
    });
  }

  profile(projectId: string, request: Parameters<SessionProfiles["choose"]>[1]): Promise<ChosenProfile> {
    return this.#parts.profiles.choose(projectId, request);
  }

  /** Of the request, or of its profile. @throws {ServiceError} 400 for a location that no browser here can have. */
  async inherited(
    projectId: string,
    {
      conditions,
      location,
      profile_id,
      web_bot_auth,
    }: Pick<PooledRequest, "conditions" | "location" | "profile_id" | "web_bot_auth">,
    proxy: Partial<ChosenProxy> | null | undefined,
  ): Promise<InheritedOptions> {
    const profile = profile_id === undefined ? {} : await this.#parts.profiles.settingsOf(projectId, profile_id);
    const bot = web_bot_auth ?? profile.web_bot_auth;
    return {
      ...(bot !== undefined && { web_bot_auth: bot }),
      ...((conditions ?? profile.conditions) && { conditions: { ...profile.conditions, ...conditions } }),
      ...locationFor({ own: location, profile: profile.location }, this.#parts.placement.abilities, proxy?.country),
    };
  }

  /**
   * What pages of a running session see after an update. @param chosen - the new proxy, as {@link SessionChoices.proxy} returns it.
   * @returns `undefined` without a change. @throws {ServiceError} 400 for a location that no browser here can have.
   */
  async seen(
    { id, options, project_id: projectId, proxy }: SessionRow,
    request: Pick<z.output<typeof UpdateBrowser>, "conditions" | "location">,
    chosen: Partial<ChosenProxy> | null | undefined,
  ): Promise<SeenOptions | undefined> {
    const country = async () => {
      if (chosen !== undefined || proxy?.id === undefined) return chosen?.country;
      return (await this.#parts.proxies.choose(projectId, { id: proxy.id }, id)).country;
    };
    return seenAfter(request, options, { abilities: this.#parts.placement.abilities, country });
  }

  /** The objects of a stored session that still exist: its profile, and where its telemetry goes. */
  async remaining({
    profile_id: profile,
    project_id: projectId,
    telemetry_destination_id: destination,
  }: SessionRow): Promise<Pick<SessionRow, "profile_id" | "telemetry_destination_id">> {
    const { destinations, profiles } = this.#parts;
    const [hasProfile, hasDestination] = await Promise.all([
      profile !== null && exists(profiles.settingsOf(projectId, profile)),
      destination !== null && exists(destinations.choose(projectId, { id: destination })),
    ]);
    return {
      profile_id: hasProfile ? profile : null,
      telemetry_destination_id: hasDestination ? destination : null,
    };
  }

  destination(
    projectId: string,
    request: PooledRequest["telemetry"],
    current: string | null,
  ): ReturnType<typeof chooseDestination> {
    return chooseDestination(this.#parts.destinations, projectId, request, current);
  }

  row(
    id: string,
    projectId: string,
    request: Omit<PooledRequest, "vaults"> &
      Pick<
        z.output<typeof CreateBrowser>,
        "connect_timeout_seconds" | "disconnect_timeout_seconds" | "forkable" | "isolation" | "memory"
      >,
  ): SessionRow {
    const { placement, region, rules, serverId } = this.#parts;
    const headless = request.headless !== false;
    const options = optionsOf({ ...request, sleep_after_seconds: this.#sleepAfter(request) });
    refuseOutsidePage(request.start_url, options);
    return {
      id,
      project_id: projectId,
      name: null,
      tags: {},
      placement: placement.kind,
      server_id: serverId,
      created_at: new Date().toISOString(),
      timeout_seconds: rules.idleTimeoutSeconds,
      headless,
      stealth: request.stealth === true,
      viewport: effectiveViewport(request.viewport ?? defaultViewport, headless),
      start_url: request.start_url ?? null,
      proxy: null,
      pool_id: null,
      pool_name: null,
      pool_state: null,
      profile_id: request.profile_id ?? null,
      profile_version: null,
      profile_save_changes: false,
      browser_restarts: 0,
      lifecycle: {},
      telemetry_destination_id: request.telemetry_destination_id ?? null,
      invocation_id: null,
      api_key_id: null,
      max_duration_seconds: null,
      ends_at: null,
      options,
      region,
      memory: request.memory ?? memoryText(placement.memory.usualBytes),
      ended_at: null,
      ended_reason: null,
    };
  }

  /** The default of the service applies only where sessions can sleep. */
  #sleepAfter({
    isolation,
    sleep_after_seconds: requested,
  }: Pick<RequestedOptions, "isolation" | "sleep_after_seconds">): number {
    const { placement, rules } = this.#parts;
    const canSleep = placement.sleep.unableBecause === undefined && isolation !== "context";
    return requested ?? (canSleep ? rules.sleepAfterSeconds : 0);
  }
}

async function exists(found: Promise<unknown>): Promise<boolean> {
  try {
    await found;
    return true;
  } catch (error) {
    if (ServiceError.isInstance(error) && error.status === 404) return false;
    throw error;
  }
}
