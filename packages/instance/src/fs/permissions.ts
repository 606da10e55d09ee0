import { ServiceError } from "@shoal/router";
import { chmod, chown, readFile, stat } from "node:fs/promises";
import { hasCode, invalidInput, orServiceError } from "./errors.ts";
import { hostPath, type SessionRoot } from "./paths.ts";

/** Owner and permissions as the API takes them. */
export interface Permissions {
  /** Permission bits. */
  readonly mode: number;
  /** Name or number of a user. */
  readonly owner: string | undefined;
  /** Name or number of a group. */
  readonly group: string | undefined;
}

/** The last number is no id: `chown` takes it for "leave as it is". */
const highestId = 0xffff_fffe;

/**
 * Sets permissions and, where one is given, owner and group; a link is followed. Names are those of `/etc/passwd` and `/etc/group` of the box,
 * or of the host where there is no box.
 *
 * @throws {ServiceError} 400 for a name that is not known there, 403 where the system does not permit the change: giving files away takes rights
 *   that the session's user does not have.
 */
export async function setFilePermissions(root: SessionRoot, path: string, permissions: Permissions): Promise<void> {
  const { group, mode, owner } = permissions;
  const action = "set the permissions of";
  await orServiceError(action, path, async () => {
    const uid = owner === undefined ? undefined : await idOf(owner, { field: "body.owner", kind: "user", file: "/etc/passwd" });
    const gid = group === undefined ? undefined : await idOf(group, { field: "body.group", kind: "group", file: "/etc/group" });
    const place = await hostPath(root, path, { follow: true, action });
    // Before the mode: a change of owner takes the set-uid bit away.
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
    // EINVAL: an id that the box's user namespace does not have.
    if (!hasCode(error, "EPERM", "EINVAL", "ENOSYS")) throw error;
    throw new ServiceError(
      403,
      "permission_denied",
      `Cannot give ${path} to user ${uid}, group ${gid}: the operating system does not permit it to the user that the session runs as (${process.geteuid?.() ?? "unknown"}). Leave out owner and group.`,
      { cause: error },
    );
  }
}

async function idOf(name: string, where: { readonly field: string; readonly kind: string; readonly file: string }): Promise<number> {
  if (/^\d+$/.test(name)) {
    const id = Number(name);
    if (id > highestId) throw invalidInput(where.field, `${name} is no ${where.kind} id; they go up to ${highestId}`);
    return id;
  }
  const text = await readFile(where.file, "utf8").catch(() => "");
  const id = text
    .split("\n")
    .map((line) => line.split(":"))
    .find((fields) => fields[0] === name)?.[2];
  if (id === undefined || !/^\d+$/.test(id))
    throw invalidInput(where.field, `there is no ${where.kind} ${name} in ${where.file}; give the name of one that is there, or a number`);
  return Number(id);
}
