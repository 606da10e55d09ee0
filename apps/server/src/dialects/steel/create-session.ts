import { badInput } from "@shoal/router";
import type { CreateBrowser, CreateProxy, ImportStorageState } from "@shoal/schemas";
import { givenIn, givenInList } from "../kit/ignored.ts";
import { toCustomProxy } from "../kit/proxy-address.ts";
import { notSupported } from "../kit/render-body.ts";
import type { CreateSession, SessionContext } from "./shapes.ts";

const defaultTimeoutMs = 300_000;

export interface SessionPlan {
  readonly create: CreateBrowser;
  readonly proxy: CreateProxy | undefined;
  /** Cookies and local storage that the session starts with. */
  readonly state: ImportStorageState | undefined;
  readonly createsProfile: boolean;
  /** Fields that have no effect, with their paths. */
  readonly ignored: readonly string[];
}

/** Fields that tune, or that the vendor sets by default. */
const withoutEffect = [
  "blockAds",
  "concurrency",
  "debugConfig",
  "experimentalFeatures",
  "namespace",
  "region",
  "solveCaptcha",
] as const satisfies readonly (keyof CreateSession)[];

/** @throws {ServiceError} 501 for a setting that would change something else than the caller requires. */
function refuseUnsupported(body: CreateSession): void {
  if (body.deviceConfig?.device === "mobile") notSupported("deviceConfig.device", "Emulate a device through CDP.");
  if (body.isSelenium === true) notSupported("isSelenium", "Connect to websocketUrl through CDP.");
  if (body.userAgent !== undefined) notSupported("userAgent", "Send Emulation.setUserAgentOverride through CDP.");
  if (body.credentials !== undefined && body.credentials !== null)
    notSupported("credentials", "Sign in with POST /auth/connections, or type in the session.");
  if (body.extensionIds?.includes("all_ext") === true) notSupported("extensionIds", "Name each extension by its id.");
}

/** Translates the body of a new session. @throws {ServiceError} 400 or 501. */
export function toCreate(body: CreateSession): SessionPlan {
  refuseUnsupported(body);
  const { extensionIds = [], optimizeBandwidth: less, profileId, stealthConfig: stealth, timeout } = body;
  const seconds = Math.ceil((timeout ?? defaultTimeoutMs) / 1000);
  const blockHosts = typeof less === "object" ? (less.blockHosts ?? []) : [];
  return {
    create: {
      timeout_seconds: seconds,
      max_duration_seconds: seconds,
      ...(body.sessionId !== undefined && { name: body.sessionId }),
      ...(body.dimensions && { viewport: body.dimensions }),
      ...(body.headless !== undefined && { headless: body.headless }),
      ...(body.fullscreen === true && { kiosk_mode: true }),
      ...(stealth && stealth.skipFingerprintInjection !== true && { stealth: true }),
      ...(extensionIds.length > 0 && { extensions: [...new Set(extensionIds)].map((id) => ({ id })) }),
      ...(blockHosts.length > 0 && { network: { deny: blockHosts } }),
      ...(profileId !== undefined && { profile: { id: profileId, save_changes: body.persistProfile === true } }),
    },
    proxy: proxyOf(body),
    state: body.sessionContext && toState(body.sessionContext),
    createsProfile: profileId === undefined && body.persistProfile === true,
    ignored: ignoredOf(body),
  };
}

/** Of cookies that Chromium exports, and does not import. */
const unusedInCookies = ["size", "priority", "sameParty", "sourcePort", "sourceScheme"];

function ignoredOf(body: CreateSession): readonly string[] {
  const { optimizeBandwidth: less, sessionContext: context, stealthConfig } = body;
  const partitions = context?.cookies?.map(({ partitionKey }) => ({
    partitionKey: partitionKey?.hasCrossSiteAncestor,
  }));
  return [
    ...givenIn("body", body, withoutEffect),
    ...(less === true ? ["body.optimizeBandwidth"] : []),
    ...(typeof less === "object"
      ? givenIn("body.optimizeBandwidth", less, ["blockUrlPatterns", "blockImages", "blockMedia", "blockStylesheets"])
      : []),
    ...givenIn("body.sessionContext", context, ["sessionStorage", "indexedDB"]),
    ...givenInList("body.sessionContext.cookies", context?.cookies, unusedInCookies),
    ...givenInList("body.sessionContext.cookies", partitions, ["partitionKey"]).map(
      (path) => `${path}.hasCrossSiteAncestor`,
    ),
    ...givenIn("body.stealthConfig", stealthConfig, ["autoCaptchaSolving", "humanizeInteractions"]),
  ];
}

function proxyOf({ proxyUrl, useProxy }: CreateSession): CreateProxy | undefined {
  if (proxyUrl !== undefined) return toCustomProxy({ server: proxyUrl }, "proxyUrl");
  if (useProxy === undefined || useProxy === false) return undefined;
  if (useProxy === true) return { type: "residential" };
  if ("server" in useProxy) return toCustomProxy({ server: useProxy.server }, "useProxy.server");
  const { city, country, state } = useProxy.geolocation;
  return {
    type: "residential",
    config: { country, ...(state !== undefined && { state }), ...(city !== undefined && { city }) },
  };
}

/** @throws {ServiceError} 400. */
function toState({ cookies = [], localStorage = {} }: SessionContext): ImportStorageState {
  return {
    cookies: cookies.map((cookie, index) => {
      const { domain = URL.parse(cookie.url ?? "")?.hostname, partitionKey, secure = false } = cookie;
      if (domain === undefined)
        throw badInput(`body.sessionContext.cookies[${String(index)}].domain`, "required without url");
      const { sameSite = "Lax" } = cookie;
      return {
        name: cookie.name,
        value: cookie.value,
        domain,
        path: cookie.path ?? "/",
        expires: cookie.session === true ? -1 : (cookie.expires ?? -1),
        httpOnly: cookie.httpOnly ?? false,
        secure,
        sameSite: sameSite === "None" && !secure ? "Lax" : sameSite,
        ...(partitionKey && { partitionKey: partitionKey.topLevelSite }),
      };
    }),
    origins: Object.entries(localStorage).map(([origin, entries]) => ({
      origin: originOf(origin),
      localStorage: Object.entries(entries).map(([name, value]) => ({ name, value })),
    })),
  };
}

/** @throws {ServiceError} 400. */
function originOf(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol !== "https:" && url?.protocol !== "http:")
    throw badInput("body.sessionContext.localStorage", "has a key that is not an origin", {
      hint: "Write origins as https://example.com.",
    });
  return url.origin;
}
