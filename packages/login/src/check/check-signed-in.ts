import type { LoginPage } from "../driver/login-page.ts";
import { judgeCheck, unknown, type CheckedPlan, type CheckVerdict } from "./judge-check.ts";

export interface CheckOptions {
  /** Of the last login. Without one, `start_url` is opened, and only a control that signs out proves a login. */
  readonly plan: CheckedPlan;
  /** Hosts that the check may open: see `allowedHosts`. */
  readonly hosts: readonly string[];
}

const maxLooks = 4;
const quietMs = 500;
const sureMs = 1_000;
const settleMs = 7_500;

/**
 * Opens the page of the last login and decides whether the browser is still signed in. Types nothing. Two looks must
 * agree: pages continue to providers and back.
 * @throws {Error} when the browser has ended.
 */
export async function checkSignedIn(page: LoginPage, { hosts, plan }: CheckOptions): Promise<CheckVerdict> {
  const url = plan.end_url ?? plan.start_url;
  const { detail, outcome } = await page.act({ kind: "goto", url, hosts: [...hosts] });
  if (outcome === "refused_host") return unknown("domain_not_allowed", `${detail ?? "The host"} is not allowed.`);
  if (outcome !== "done") return unknown("network_error", `The site cannot be reached: ${detail ?? outcome}.`);
  let verdict = await look(page, plan, quietMs);
  for (let looks = 1; looks < maxLooks; looks++) {
    const again = await look(page, plan, sureMs);
    if (again.status === verdict.status && again.status !== "unknown") return again;
    verdict = again;
  }
  // The last two differ, or no look had a result.
  return verdict.status === "unknown" ? verdict : unknown("navigation_confused", "The site shows changing pages.");
}

async function look(page: LoginPage, plan: CheckedPlan, quiet_ms: number): Promise<CheckVerdict> {
  const settled = await page.settle({ quiet_ms, timeout_ms: settleMs });
  return judgeCheck(await page.read(settled.status), settled, plan);
}
