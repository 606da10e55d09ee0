import { useEffect, useState } from "react";
import { consolePath } from "../base/place.ts";
import { Failure, Loading } from "./states.tsx";

const askAgainMs = 1_000;
/** A second failure within this time is not a restart or an update of the service. */
const reloadAgainMs = 30_000;
const storageKey = "shoal-reloaded-at";

class MissingFileError extends Error {
  override readonly name = "MissingFileError";
}

/** True once for a failure: a page that stays incomplete must not load forever. */
function mayReload(): boolean {
  const reloadedAt = Number(sessionStorage.getItem(storageKey) ?? 0);
  if (Date.now() - reloadedAt < reloadAgainMs) return false;
  sessionStorage.setItem(storageKey, String(Date.now()));
  return true;
}

async function answers(signal: AbortSignal): Promise<boolean> {
  return fetch(consolePath, { headers: { accept: "text/html" }, cache: "no-store", signal }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/**
 * In place of a part of the page whose file could not be loaded: the service restarts, or it was updated and has other files.
 * Loads the page again when the service answers, once.
 */
export function MissingPart() {
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    const left = new AbortController();
    const { signal } = left;
    let timer: number | undefined;
    async function ask(): Promise<void> {
      const isBack = await answers(signal);
      if (signal.aborted) return;
      if (!isBack) timer = window.setTimeout(() => void ask(), askAgainMs);
      else if (mayReload()) location.reload();
      else setFailed(true);
    }
    void ask();
    return () => {
      left.abort();
      clearTimeout(timer);
    };
  }, []);
  if (!hasFailed) return <Loading label="Loading this part of the page again" />;
  return (
    <Failure
      error={new MissingFileError("A file of this page could not be loaded from the service.")}
      retry={() => {
        location.reload();
      }}
    />
  );
}
