import { useEffect, useRef } from "react";
import { commandOf, type PlayerCommand } from "./commands.ts";

const fields =
  "input:not([type=range]), textarea, select, [contenteditable], [role=dialog], [role=menu], [role=tablist]";
const buttons = "button, a, summary";

/** Calls `run` for the keys of video players, except in fields. It comes before the shortcuts of the console. */
export function usePlayerKeys(run: (command: PlayerCommand) => void): void {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  }, [run]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { altKey, ctrlKey, key, metaKey, target } = event;
      if (altKey || ctrlKey || metaKey || !(target instanceof Element) || target.closest(fields) !== null) return;
      if (key === " " && target.closest(buttons) !== null) return;
      const command = commandOf(key);
      if (command === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      latest.current(command);
    };
    addEventListener("keydown", press, { capture: true });
    return () => {
      removeEventListener("keydown", press, { capture: true });
    };
  }, []);
}
