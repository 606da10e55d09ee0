import type { BrowserPool } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Pencil, RefreshCw } from "lucide-react";
import { useState } from "react";
import { useSignedIn } from "../../api/shoal.ts";
import { useAction } from "../../parts/action.ts";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { useDeletion } from "../../parts/table/use-deletion.ts";
import { PoolDialog } from "./pool-dialog.tsx";

function leasedText(count: number): string {
  if (count === 0) return "";
  return count === 1 ? ", and so does the leased browser" : `, and so do the ${count} leased browsers`;
}

export function PoolMenu({ pool }: { readonly pool: BrowserPool }) {
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isChanging, setChanging] = useState(false);
  const { id, acquired_count } = pool;
  const name = pool.name ?? id;
  const flush = useAction({
    act: () => shoal.browserPools.flush(id),
    told: () => `Pool ${name} fills with new browsers.`,
    changes: [["pools"]],
  });
  const deletion = useDeletion({
    kind: "pool",
    name,
    text: `Its waiting browsers end${leasedText(acquired_count)}.`,
    act: () => shoal.browserPools.delete(id, { force: true }),
    done: () => navigate({ to: "/pools" }),
    changes: [["pools"]],
  });
  return (
    <>
      <RowMenu
        label={`Actions for pool ${name}`}
        actions={[
          {
            label: "Change",
            icon: Pencil,
            run: () => {
              setChanging(true);
            },
          },
          {
            label: "Flush",
            icon: RefreshCw,
            run: flush.mutate,
            confirm: {
              title: `Flush pool ${name}?`,
              text: "Its waiting browsers end, and the pool fills again. Leased browsers continue.",
              action: "Flush the pool",
            },
          },
          deletion,
        ]}
      />
      <PoolDialog
        pool={pool}
        isOpen={isChanging}
        close={() => {
          setChanging(false);
        }}
        done={() => {
          setChanging(false);
          void queries.invalidateQueries({ queryKey: ["pools"] });
        }}
      />
    </>
  );
}
