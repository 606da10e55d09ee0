import { readFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { invalidInput } from "../fs/errors.ts";

/** The user that a command runs as, where that is not the instance's own. */
export interface CommandUser {
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Finds the user that a request asks for.
 *
 * @throws {ServiceError} 400 when there is none, or the instance may not act for it: only root may act for others.
 */
export async function findUser({
  as_root,
  as_user,
}: {
  readonly as_root?: boolean | undefined;
  readonly as_user?: string | null | undefined;
}): Promise<CommandUser> {
  if (as_root === true && as_user != null) throw invalidInput("body.as_root", "give at most one of as_root and as_user");
  if (as_root !== true && as_user == null) return {};
  const field = as_root === true ? "body.as_root" : "body.as_user";
  const wanted = as_root === true ? "root" : (as_user ?? "");
  if (process.platform === "win32")
    throw invalidInput(field, "this session runs on Windows, where commands run as the session's own user alone. Leave it out.");
  const own = { uid: process.getuid?.() ?? 0, name: ownName() };
  if (wanted === own.name || wanted === String(own.uid)) return {};
  if (own.uid !== 0)
    throw invalidInput(
      field,
      `the session has no user ${wanted.slice(0, 100)}: everything in it runs as ${own.name} (${String(own.uid)}). Leave it out.`,
    );
  for (const line of (await readFile("/etc/passwd", "utf8")).split("\n")) {
    const [name, , uid, gid] = line.split(":");
    if (name !== undefined && uid !== undefined && (name === wanted || uid === wanted)) return { uid: Number(uid), gid: Number(gid) };
  }
  throw invalidInput(field, `the session has no user ${wanted.slice(0, 100)}. Look at /etc/passwd of its host, or leave it out.`);
}

function ownName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user without an entry in /etc/passwd.
    return String(process.getuid?.());
  }
}
