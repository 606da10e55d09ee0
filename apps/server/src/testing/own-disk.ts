import { execFileSync } from "node:child_process";

export const unshare = "/usr/bin/unshare";
export const namespaces = ["--user", "--map-root-user", "--mount", "--propagation=private"];

/** Why the test cannot have a separate disk; `undefined` if it can. In CI it always can, so the tests run and fail. */
export function whyNoDisk(): string | undefined {
  if (process.env.SHOAL_REQUIRE_ALL === "1") return undefined;
  if (process.platform !== "linux") return "mount namespaces are a thing of Linux";
  try {
    execFileSync(unshare, [...namespaces, "true"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "needs unshare (util-linux) and user namespaces";
  }
}
