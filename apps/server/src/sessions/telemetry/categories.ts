import { badInput } from "@shoal/router";
import { type BrowserTelemetry, type BrowserTelemetryRequest, telemetryCategories } from "@shoal/schemas";
import type * as z from "zod/mini";

/** `monitor` is not selectable; it follows the categories that watch the browser. */
export type CapturedCategories = Readonly<Record<Selectable, boolean>>;
type Selectable = keyof NonNullable<BrowserTelemetry["browser"]>;

const selectable = telemetryCategories.filter((category): category is Selectable => category !== "monitor");
/** Categories without cost for the browser. */
const byDefault: ReadonlySet<string> = new Set(["control", "connection", "system", "captcha"]);

function from(isOn: (category: Selectable) => boolean): CapturedCategories {
  const flags = Object.fromEntries(selectable.map((category) => [category, isOn(category)]));
  // `selectable` has every category.
  return flags as Record<Selectable, boolean>;
}

type Request = z.output<typeof BrowserTelemetryRequest> | null | undefined;

/**
 * @param current - `undefined` = none. @throws {ServiceError} 400 for `enabled: false` with categories or a
 * destination.
 */
export function selectCategories(
  request: Request,
  current: CapturedCategories | undefined,
): CapturedCategories | undefined {
  const given = Object.entries(request?.browser ?? {}).filter(([, choice]) => choice !== undefined);
  const isSent = request?.export?.otlp?.destination !== undefined;
  // A destination without categories captures the default categories.
  if (!request || (request.enabled === undefined && given.length === 0))
    return current ?? (isSent ? from((category) => byDefault.has(category)) : undefined);
  if (request.enabled === false) {
    if (isSent) {
      throw badInput("body.telemetry", "enabled: false cannot be combined with export.otlp.destination", {
        hint: "Without captured events, nothing is sent.",
      });
    }
    if (given.length === 0) return undefined;
    throw badInput("body.telemetry", "enabled: false cannot be combined with browser", {
      hint: "Disable single categories with their own enabled, or omit browser to stop all.",
    });
  }
  const start = request.enabled === true ? undefined : current;
  const choices = new Map(given.map(([name, choice]) => [name, choice?.enabled !== false]));
  const selected = from((category) => choices.get(category) ?? start?.[category] ?? byDefault.has(category));
  // Only disabled categories were sent: do not add the default set.
  const asks = request.enabled === true || start !== undefined || [...choices.values()].some(Boolean);
  return asks && Object.values(selected).some(Boolean) ? selected : undefined;
}

export function namesOf(categories: CapturedCategories | undefined): Selectable[] {
  return categories === undefined ? [] : selectable.filter((category) => categories[category]);
}

/** Ignores unknown names. `undefined` = none. */
export function categoriesNamed(names: readonly string[]): CapturedCategories | undefined {
  const selected = from((category) => names.includes(category));
  return Object.values(selected).some(Boolean) ? selected : undefined;
}

export function shownCategories(categories: CapturedCategories): BrowserTelemetry {
  return { browser: Object.fromEntries(selectable.map((category) => [category, { enabled: categories[category] }])) };
}

export function shownExport(destinationId: string): Pick<BrowserTelemetry, "export"> {
  return { export: { otlp: { destination: destinationId, enabled: true } } };
}
