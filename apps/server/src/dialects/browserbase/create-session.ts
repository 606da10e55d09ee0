import type { CreateBrowser, CreateProxy } from "@shoal/schemas";
import { ServiceError } from "@shoal/router";
import { toProxy } from "./proxy-rules.ts";
import type { CreateSession } from "./shapes.ts";

/** Seconds. */
export const defaultTimeout = 3600;
/** For a reconnect after a network fault. */
const disconnectTimeoutSeconds = 10;
const connectTimeoutSeconds = 300;
/** Where a client sets one of both. */
const usualSize = { width: 1288, height: 711 };

const on = { enabled: true };
const logged = { console: on, network: on, page: on };

export interface SessionPlan {
  readonly create: CreateBrowser;
  readonly proxy: CreateProxy | undefined;
  readonly metadata: CreateSession["userMetadata"];
  /** Fields that have no effect, with their paths. */
  readonly ignored: readonly string[];
}

type BrowserSettings = NonNullable<CreateSession["browserSettings"]>;

/** Settings that tune, or that the vendor sets by default. */
const withoutEffect = [
  "blockAds",
  "solveCaptchas",
  "captchaImageSelector",
  "captchaInputSelector",
  "os",
  "fingerprint",
] as const satisfies readonly (keyof BrowserSettings)[];

function unsupported(field: string, problem: string, hint: string): ServiceError {
  return new ServiceError(501, "not_implemented", problem, { field: `body.${field}`, hint });
}

/** @throws {ServiceError} 501 for a setting that would change something else than the caller requires. */
function refuseUnsupported({ browserSettings: settings = {}, proxySettings }: CreateSession): void {
  if (settings.os === "mobile" || settings.os === "tablet")
    throw unsupported("browserSettings.os", "mobile devices are not available", "Emulate one through CDP.");
  if ((settings.allowedDomains?.length ?? 0) > 0)
    throw unsupported(
      "browserSettings.allowedDomains",
      "navigations alone cannot be limited",
      "network.allow of POST /browsers limits every request.",
    );
  if (settings.ignoreCertificateErrors === true)
    throw unsupported(
      "browserSettings.ignoreCertificateErrors",
      "certificates are always checked at the start",
      "Send Security.setIgnoreCertificateErrors through CDP.",
    );
  if ((proxySettings?.caCertificates?.length ?? 0) > 0)
    throw unsupported(
      "proxySettings.caCertificates",
      "certificates of proxies are stored with the proxy",
      "Create it with POST /proxies and ca_bundle.",
    );
}

/** Translates the body of a new session. @throws {ServiceError} 400 or 501. */
export function toCreate(body: CreateSession): SessionPlan {
  refuseUnsupported(body);
  const { browserSettings: settings = {}, keepAlive = false, region, timeout = defaultTimeout } = body;
  const extensions = [...new Set([body.extensionId, settings.extensionId])].filter((id) => id !== undefined);
  const { context, viewport } = settings;
  return {
    create: {
      timeout_seconds: timeout,
      max_duration_seconds: timeout,
      ...(!keepAlive && {
        disconnect_timeout_seconds: disconnectTimeoutSeconds,
        connect_timeout_seconds: Math.min(connectTimeoutSeconds, timeout),
      }),
      ...((settings.advancedStealth === true || settings.verified === true) && { stealth: true }),
      ...(viewport &&
        (viewport.width ?? viewport.height) !== undefined && {
          viewport: { width: viewport.width ?? usualSize.width, height: viewport.height ?? usualSize.height },
        }),
      ...(context && { profile: { id: context.id, save_changes: context.persist } }),
      ...(extensions.length > 0 && { extensions: extensions.map((id) => ({ id })) }),
      ...(settings.recordSession !== undefined && { recording: { video: settings.recordSession } }),
      ...(settings.logSession !== undefined && {
        telemetry: settings.logSession ? { browser: logged } : { enabled: false },
      }),
    },
    proxy: toProxy(body.proxies),
    metadata: body.userMetadata,
    ignored: [
      ...(region === undefined ? [] : ["body.region"]),
      ...withoutEffect
        .filter((name) => settings[name] !== undefined && settings[name] !== false)
        .map((name) => `body.browserSettings.${name}`),
    ],
  };
}
