import { readFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { invalidInput } from "../fs/errors.ts";

/** A user other than the instance's. */
export interface CommandUser {
  readonly uid?: number;
  readonly gid?: number;
}

export async function findUser({
  as_root,
  as_user,
}: {
  readonly as_root?: boolean | undefined;
  readonly as_user?: string | null | undefined;
}): Promise<CommandUser> {
  if (as_root === true && as_user != null)
    throw invalidInput("body.as_root", "give at most one of as_root and as_user");
  if (as_root !== true && as_user == null) return {};
  const field = as_root === true ? "body.as_root" : "body.as_user";
  const wanted = as_root === true ? "root" : (as_user ?? "");
  if (process.platform === "win32")
    throw invalidInput(field, "this session runs on Windows, where commands run as the session's own user alone", {
      hint: "Omit it.",
    });
  const own = { uid: process.getuid?.() ?? 0, name: ownName() };
  if (wanted === own.name || wanted === String(own.uid)) return {};
  if (own.uid !== 0)
    throw invalidInput(
      field,
      `the session has no user ${wanted.slice(0, 100)}: everything in it runs as ${own.name} (${String(own.uid)})`,
      { hint: "Omit it." },
    );
  for (const line of (await readFile("/etc/passwd", "utf8")).split("\n")) {
    const [name, , uid, gid] = line.split(":");
    if (name !== undefined && uid !== undefined && (name === wanted || uid === wanted))
      return { uid: Number(uid), gid: Number(gid) };
  }
  throw invalidInput(field, `the session has no user ${wanted.slice(0, 100)}`, {
    hint: "See /etc/passwd of its host, or omit the field.",
  });
}

function ownName(): string {
  try {
    return userInfo().username;
  } catch {
    // The user has no entry in /etc/passwd.
    return String(process.getuid?.());
  }
}
