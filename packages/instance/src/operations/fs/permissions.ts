import { hasCode } from "@shoal/primitives";
import { ownerUnchangeable } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import { chmod, chown, readFile, stat } from "node:fs/promises";
import { invalidInput, orServiceError } from "./errors.ts";
import { hostPath, type SessionRoot } from "./paths.ts";
import { refuseProtected } from "./protected.ts";

export interface Permissions {
  readonly mode: number;
  readonly owner: string | undefined;
  readonly group: string | undefined;
}

/** The next number is not a valid id: `chown` interprets it as "unchanged". */
const highestId = 0xffff_fffe;

/** Names come from `/etc/passwd` and `/etc/group` of the box, or of the host without a box. */
export async function setFilePermissions(root: SessionRoot, path: string, permissions: Permissions): Promise<void> {
  const { group, mode, owner } = permissions;
  const action = "set the permissions of";
  await orServiceError(action, path, async () => {
    const uid =
      owner === undefined ? undefined : await idOf(owner, { field: "body.owner", kind: "user", file: "/etc/passwd" });
    const gid =
      group === undefined ? undefined : await idOf(group, { field: "body.group", kind: "group", file: "/etc/group" });
    const place = await hostPath(root, path, { follow: true, action });
    // Without these rights, the session's own service could not reach its files.
    if ((mode & 0o700) !== 0o700) await refuseProtected(root, { path, place, action: "close" });
    // Before the mode, because a change of owner clears the set-uid bit.
    if (uid !== undefined || gid !== undefined) await changeOwner(path, place, { uid, gid });
    await chmod(place, mode);
  });
}

async function changeOwner(
  path: string,
  place: string,
  wanted: { readonly uid: number | undefined; readonly gid: number | undefined },
): Promise<void> {
  const stats = await stat(place);
  const { uid = stats.uid, gid = stats.gid } = wanted;
  if (uid === stats.uid && gid === stats.gid) return;
  try {
    await chown(place, uid, gid);
  } catch (error) {
    // EINVAL: the id does not exist in the box's user namespace.
    if (!hasCode(error, "EPERM", "EINVAL", "ENOSYS")) throw error;
    throw ServiceError.of(ownerUnchangeable(path, { uid, gid, user: process.geteuid?.() ?? 0 }), { cause: error });
  }
}

async function idOf(
  name: string,
  where: { readonly field: string; readonly kind: string; readonly file: string },
): Promise<number> {
  if (/^\d+$/.test(name)) {
    const id = Number(name);
    if (id > highestId) throw invalidInput(where.field, `${name} is not a ${where.kind} id`, { limit: highestId });
    return id;
  }
  const text = await readFile(where.file, "utf8").catch(() => "");
  const id = text
    .split("\n")
    .map((line) => line.split(":"))
    .find((fields) => fields[0] === name)?.[2];
  if (id === undefined || !/^\d+$/.test(id))
    throw invalidInput(where.field, `${where.file} has no ${where.kind} ${name}`, {
      hint: "Send an existing name or a number.",
    });
  return Number(id);
}
