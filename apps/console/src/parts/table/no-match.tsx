import { SearchX } from "lucide-react";
import { Empty } from "../states.tsx";

/** In place of a list without rows for the filters of the page. */
export function NoMatch() {
  return (
    <Empty icon={SearchX} title="Nothing matches">
      Change the search or the filters.
    </Empty>
  );
}
