import { maxViewportPixels } from "@shoal/schemas/viewport-limits";
import type { AssignInstance, LaunchWishes } from "../protocol.ts";

/**
 * Reads what nearly every session is handed over with, without the schema: zod takes five milliseconds of CPU to load, a tenth of an instance's.
 *
 * @returns `undefined` for all that only the schema can judge: any other field, and whatever is wrong. What it does return the schema accepts too.
 */
export function readPlainAssign(text: string): AssignInstance | undefined {
  const value = parse(text);
  if (value === undefined) return undefined;
  const { session_id, timeout_seconds, viewport, start_url, launch, ...others } = value;
  if (Object.keys(others).length > 0) return undefined;
  if (typeof session_id !== "string" || session_id === "" || session_id.length > 255) return undefined;
  if (!isWithin(timeout_seconds, 259_200)) return undefined;
  if (start_url !== undefined && (typeof start_url !== "string" || start_url.length > 8192)) return undefined;
  const size = viewport === undefined ? undefined : readSize(viewport);
  if (viewport !== undefined && size === undefined) return undefined;
  const wishes = launch === undefined ? undefined : readWishes(launch);
  if (launch !== undefined && wishes === undefined) return undefined;
  return {
    session_id,
    timeout_seconds,
    ...(size && { viewport: size }),
    ...(start_url !== undefined && { start_url }),
    ...(wishes && { launch: wishes }),
  };
}

function readWishes(launch: unknown): LaunchWishes | undefined {
  if (typeof launch !== "object" || launch === null || Array.isArray(launch)) return undefined;
  const fields = Object.entries(launch);
  if (!fields.every(([name, value]) => wishNames.has(name) && typeof value === "boolean")) return undefined;
  return { ...launch };
}

const wishNames: ReadonlySet<string> = new Set(["again", "full", "headless", "kiosk", "stealth"] satisfies readonly (keyof LaunchWishes)[]);

function parse(text: string): Partial<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function readSize(viewport: unknown): { width: number; height: number } | undefined {
  if (typeof viewport !== "object" || viewport === null || Object.keys(viewport).length !== 2 || !("width" in viewport) || !("height" in viewport))
    return undefined;
  const { width, height } = viewport;
  return isWithin(width, maxViewportPixels) && isWithin(height, maxViewportPixels) ? { width, height } : undefined;
}

function isWithin(value: unknown, most: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most;
}
