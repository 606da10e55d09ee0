import { realpathSync } from "node:fs";
import { sep } from "node:path";
import type { OwnTargets } from "./own-targets.ts";

/** What belongs to one session of a shared browser. */
export interface ContextScope {
  readonly contextId: string;
  /** Folder of the session's files, a path of the host. */
  readonly root: string;
  readonly targets: OwnTargets;
}

export interface TargetInfo {
  readonly targetId?: unknown;
  readonly type?: unknown;
  readonly browserContextId?: unknown;
}

export function isOwn({ contextId }: Pick<ContextScope, "contextId">, info: TargetInfo | undefined): boolean {
  return info?.browserContextId === contextId;
}

/** Whether a path of the host is in the session's folder, also through symbolic links. */
export function isInside({ root }: Pick<ContextScope, "root">, path: unknown): boolean {
  if (typeof path !== "string") return false;
  try {
    const folder = realpathSync(root);
    const real = realpathSync(path);
    return real === folder || real.startsWith(folder + sep);
  } catch {
    return false;
  }
}
