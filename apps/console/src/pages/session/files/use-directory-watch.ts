import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useCanOperate, useSignedIn } from "../../../api/shoal.ts";

const shownChanges = 20;
const refreshMs = 300;

/** Refreshes the list when the directory changes. Without a watch, the list is refreshed by reloading it. */
export function useDirectoryWatch(id: string, path: string): readonly string[] {
  const { shoal } = useSignedIn();
  const canWatch = useCanOperate();
  const queries = useQueryClient();
  const [changes, setChanges] = useState<readonly string[]>([]);
  useEffect(() => {
    if (!canWatch) return undefined;
    const ended = new AbortController();
    const { signal } = ended;
    let timer: number | undefined;
    async function follow(): Promise<void> {
      const { watch_id } = await shoal.browsers.fs.watch.start(id, { path }, { signal });
      try {
        for await (const { type, name, path: changed } of shoal.browsers.fs.watch.events(id, watch_id, { signal })) {
          setChanges((before) => [...before, `${type.toLowerCase()} ${name ?? changed}`].slice(-shownChanges));
          timer ??= window.setTimeout(() => {
            timer = undefined;
            void queries.invalidateQueries({ queryKey: ["files", id, path] });
          }, refreshMs);
        }
      } finally {
        await shoal.browsers.fs.watch.stop(id, watch_id);
      }
    }
    // The page works without the watch: its directory may be missing.
    follow().catch(() => undefined);
    return () => {
      ended.abort();
      clearTimeout(timer);
      setChanges([]);
    };
  }, [shoal, queries, id, path, canWatch]);
  return changes;
}
