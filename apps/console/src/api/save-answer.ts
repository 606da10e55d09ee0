import { serviceUrl } from "../base/place.ts";
import { saveUrl } from "../base/save.ts";
import { createDownloadKey } from "./console-session.ts";
import { refusalText } from "./refusal.ts";

export interface SavedAnswer {
  /** `undefined` = the project of the person. */
  readonly project: string | undefined;
  /** Of a GET operation that answers with a file: `/browsers/ID/fs/read_file`. */
  readonly path: string;
  /** Without its undefined fields. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** Name of the file for the person. */
  readonly name: string;
}

/**
 * Lets the browser save the answer of an operation. Its bytes go to the disk without passing through the page.
 * @throws {Error} with the refusal of the service, which the browser does not show.
 */
export async function saveAnswer({ project, path, query = {}, name }: SavedAnswer): Promise<void> {
  const fields = Object.entries(query).filter((field): field is [string, string] => field[1] !== undefined);
  const search = new URLSearchParams(fields).toString();
  const place = `/${project ?? "-"}${path}${search === "" ? "" : `?${search}`}`;
  const url = `${serviceUrl}/console/downloads/${await createDownloadKey(place)}${place}`;
  const { ok } = await fetch(url, { method: "HEAD" });
  if (!ok) {
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(await refusalText(answer));
    await answer.body?.cancel();
  }
  saveUrl(url, name);
}
