import type { BrowserPool, BrowserPoolConfig, CreateBrowserPool, UpdateBrowserPool } from "@shoal/schemas";
import type * as z from "zod/mini";
import { badField } from "../../http/bad-field.ts";
import type { PooledRequest } from "../browsers/running-session.ts";
import type { Sessions } from "../browsers/sessions.ts";
import { categoriesForLater, isOff, selectCategories, shownCategories, shownExport } from "../telemetry/categories.ts";
import type { CountedPool, PoolConfig } from "./pool-row.ts";

type Create = z.output<typeof CreateBrowserPool>;
type Update = z.output<typeof UpdateBrowserPool>;

function asSession({ profile, ...body }: Create | Update): Parameters<Sessions["pooled"]["check"]>[1] {
  return {
    ...(body.proxy_id !== undefined && { proxy_id: body.proxy_id }),
    ...(body.start_url !== undefined && { start_url: body.start_url }),
    ...(body.telemetry !== undefined && { telemetry: body.telemetry }),
    ...(body.viewport !== undefined && { viewport: body.viewport }),
    ...(body.memory !== undefined && { memory: body.memory }),
    ...(body.network !== undefined && { network: body.network }),
    ...(body.location !== undefined && { location: body.location }),
    ...(body.conditions !== undefined && { conditions: body.conditions }),
    ...(body.web_bot_auth && { web_bot_auth: body.web_bot_auth }),
    ...(body.extensions !== undefined && { extensions: body.extensions }),
    ...(body.vaults !== undefined && { vaults: body.vaults }),
    ...(body.chrome_policy !== undefined && { chrome_policy: body.chrome_policy }),
    ...(body.headless !== undefined && { headless: body.headless }),
    ...(body.stealth !== undefined && { stealth: body.stealth }),
    ...(body.kiosk_mode !== undefined && { kiosk_mode: body.kiosk_mode }),
    ...(body.recording !== undefined && { recording: body.recording }),
    ...(body.sleep_after_seconds !== undefined && { sleep_after_seconds: body.sleep_after_seconds }),
    // `{ "id": "" }` detaches the profile.
    ...(profile !== undefined && profile.id !== "" && { profile: { ...profile, save_changes: false } }),
  };
}

type Found = Pick<
  PooledRequest,
  "extension_ids" | "network" | "profile_id" | "proxy_id" | "telemetry_destination_id" | "vaults"
>;

function profileOf(
  body: Create | Update,
  found: Found,
  before?: PoolConfig,
): Pick<PoolConfig, "profile" | "profile_id" | "refresh_on_profile_update"> {
  const { profile, refresh_on_profile_update: refresh } = body;
  if (profile === undefined)
    return before?.profile_id === undefined
      ? {}
      : {
          profile: before.profile,
          profile_id: before.profile_id,
          refresh_on_profile_update: refresh ?? before.refresh_on_profile_update,
        };
  if (profile.id === "") return {};
  return {
    profile: {
      ...(profile.id !== undefined && { id: profile.id }),
      ...(profile.name !== undefined && { name: profile.name }),
    },
    profile_id: found.profile_id,
    refresh_on_profile_update: refresh ?? true,
  };
}

/** @throws {ServiceError} 400, 404, or 501 for options that sessions do not support yet. */
export async function checkConfig(
  sessions: Sessions,
  projectId: string,
  body: Create | Update,
  before?: PoolConfig,
): Promise<Found> {
  if (
    body.refresh_on_profile_update === true &&
    (body.profile === undefined ? before?.profile_id === undefined : body.profile.id === "")
  )
    throw badField("refresh_on_profile_update", "needs a profile, and this pool has none");
  if (!Number.isSafeInteger(body.size ?? 1)) throw badField("size", "expected a whole number of browsers");
  const session = asSession(body);
  // What stays must fit what changes.
  const { chrome_policy = before?.chrome_policy, memory = before?.memory, network = before?.network } = session;
  const headless = body.headless ?? before?.headless;
  const location = session.location ?? before?.location;
  const proxy = session.proxy_id ?? before?.proxy_id;
  const together = {
    ...session,
    ...(chrome_policy && { chrome_policy }),
    ...(memory && { memory }),
    ...(memory && headless !== undefined && { headless }),
    ...(network && { network }),
    ...(location?.timezone === "exit" && { location, ...(proxy && { proxy_id: proxy }) }),
  };
  const start_url = body.start_url ?? before?.start_url;
  const { network: found, ...others } = await sessions.pooled.check(
    projectId,
    { ...together, ...(start_url !== undefined && { start_url }) },
    before?.telemetry_destination_id,
  );
  return { ...others, ...(body.network && found && { network: found }) };
}

/** Removes empty fields, so that answers show the effective configuration. */
function tidy(config: PoolConfig): PoolConfig {
  const {
    chrome_policy,
    conditions,
    extensions,
    extension_ids,
    headless,
    kiosk_mode,
    location,
    network,
    proxy_id,
    recording,
    start_url,
    stealth,
    telemetry,
    vaults,
    web_bot_auth: bot,
    ...rest
  } = config;
  return {
    ...rest,
    ...(headless === false && { headless }),
    ...(stealth && { stealth }),
    ...(kiosk_mode && { kiosk_mode }),
    ...(network && Object.keys(network).length > 0 && { network }),
    ...(bot && { web_bot_auth: bot }),
    ...(conditions && Object.keys(conditions).length > 0 && { conditions }),
    ...(location && Object.keys(location).length > 0 && { location }),
    ...(extensions?.length && { extensions, extension_ids: extension_ids ?? [] }),
    ...(chrome_policy && Object.keys(chrome_policy).length > 0 && { chrome_policy }),
    ...(proxy_id && { proxy_id }),
    ...(recording?.video !== undefined && { recording: { video: recording.video } }),
    ...(start_url && { start_url }),
    ...(telemetry && { telemetry }),
    ...(vaults && vaults.length > 0 && { vaults }),
  };
}

/** What a pool says about telemetry itself; `undefined` = its browsers have the default of the project. */
function telemetryOf(request: Create["telemetry"], before: PoolConfig["telemetry"]): PoolConfig["telemetry"] {
  const captured = isOff(before)
    ? selectCategories(request, undefined)
    : categoriesForLater(request, selectCategories(before, undefined));
  if (captured !== undefined) return shownCategories(captured);
  if (request?.enabled === false) return shownCategories(undefined);
  const browser = { ...before?.browser, ...request?.browser };
  return Object.keys(browser).length === 0 ? undefined : { browser };
}

export function configOf(body: Create, found: Found): PoolConfig {
  const {
    chrome_policy,
    extensions,
    fill_rate_per_minute,
    headless,
    kiosk_mode,
    sleep_after_seconds: sleep,
    stealth,
    timeout_seconds,
    viewport,
    web_bot_auth,
  } = body;
  return tidy({
    ...found,
    ...profileOf(body, found),
    fill_rate_per_minute,
    timeout_seconds,
    chrome_policy,
    extensions,
    headless,
    kiosk_mode,
    location: body.location,
    conditions: body.conditions,
    ...(body.memory !== undefined && { memory: body.memory }),
    network: found.network,
    recording: body.recording,
    stealth,
    web_bot_auth,
    proxy_id: found.proxy_id,
    start_url: body.start_url,
    ...(viewport && { viewport }),
    ...(sleep !== undefined && { sleep_after_seconds: sleep }),
    telemetry: telemetryOf(body.telemetry, undefined),
  });
}

/** Absent fields stay unchanged. */
export function changedConfig(config: PoolConfig, body: Update, found: Found): PoolConfig {
  const viewport = body.viewport ?? config.viewport;
  return tidy({
    fill_rate_per_minute: body.fill_rate_per_minute ?? config.fill_rate_per_minute,
    timeout_seconds: body.timeout_seconds ?? config.timeout_seconds,
    // A name may pass to another proxy, so the id is stored; `""` takes the proxy away.
    proxy_id: found.proxy_id ?? body.proxy_id ?? config.proxy_id,
    start_url: body.start_url ?? config.start_url,
    chrome_policy: body.chrome_policy ?? config.chrome_policy,
    headless: body.headless ?? config.headless,
    kiosk_mode: body.kiosk_mode ?? config.kiosk_mode,
    sleep_after_seconds: body.sleep_after_seconds ?? config.sleep_after_seconds,
    ...((body.memory ?? config.memory) && { memory: body.memory ?? config.memory }),
    location: body.location ?? config.location,
    conditions: body.conditions ?? config.conditions,
    network: found.network ?? config.network,
    vaults: body.vaults === undefined ? config.vaults : found.vaults,
    recording: body.recording ?? config.recording,
    stealth: body.stealth ?? config.stealth,
    web_bot_auth: body.web_bot_auth === undefined ? config.web_bot_auth : (body.web_bot_auth ?? undefined),
    ...profileOf(body, found, config),
    ...(body.extensions === undefined
      ? { extensions: config.extensions, extension_ids: config.extension_ids ?? [] }
      : { extensions: body.extensions, extension_ids: found.extension_ids ?? [] }),
    ...(viewport && { viewport }),
    telemetry: telemetryOf(body.telemetry, config.telemetry),
    ...(found.telemetry_destination_id !== undefined && { telemetry_destination_id: found.telemetry_destination_id }),
  });
}

export function toPool({ id, name, created_at, size, config, available, acquired, region }: CountedPool): BrowserPool {
  const {
    extension_ids,
    profile,
    profile_id,
    telemetry,
    telemetry_destination_id: destination,
    vaults,
    viewport,
    ...rest
  } = config;
  const captured = selectCategories(telemetry, undefined);
  const shown: BrowserPoolConfig = {
    size,
    ...(name !== null && { name }),
    headless: true,
    stealth: false,
    kiosk_mode: false,
    ...rest,
    ...(profile && { profile }),
    ...(viewport && { viewport }),
    ...(vaults && { vaults: [...vaults] }),
    ...((telemetry ?? destination) !== undefined && {
      telemetry: {
        ...(captured ? shownCategories(captured) : telemetry?.browser && { browser: telemetry.browser }),
        ...(destination !== undefined && shownExport(destination)),
      },
    }),
  };
  return {
    id,
    ...(profile_id !== undefined && { profile_id }),
    ...(name !== null && { name }),
    available_count: available,
    acquired_count: acquired,
    created_at,
    browser_pool_config: shown,
    extension_ids: [...(extension_ids ?? [])],
    region,
  };
}

/** Default timeout of `acquire`: the time in which the pool fills, between 10 s and one hour. */
export function fillSeconds({ fill_rate_per_minute: rate }: PoolConfig): number {
  return rate === 0 ? 3600 : Math.min(3600, Math.max(10, Math.ceil(6000 / rate)));
}
