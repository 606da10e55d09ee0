import type { Browser, BrowserStats } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { useSignedIn } from "../../../api/shoal.ts";
import { sizeText } from "../../../base/texts.ts";
import { Failure } from "../../../parts/states.tsx";
import styles from "./processes.module.css";

const refreshMs = 3000;
const percent = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });

/** The present load of the whole session, with its browser. Reading it does not keep the session alive. */
export function LoadFigures({ browser: { session_id: id, memory } }: { readonly browser: Browser }) {
  const { shoal } = useSignedIn();
  const { data, error, refetch } = useQuery({
    queryKey: ["stats", id],
    queryFn: async ({ signal }) => shoal.browsers.stats(id, { signal }),
    refetchInterval: refreshMs,
  });
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <dl className={styles.figures} aria-label="Load of the session">
      {figuresOf(data, memory).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const unknown = "–";

function figuresOf(
  stats: BrowserStats | undefined,
  memory: string | undefined,
): readonly (readonly [string, string])[] {
  const { cpu_pct, mem_bytes, processes, pages, clients, viewers } = stats ?? {};
  return [
    ["Processor", cpu_pct === undefined ? unknown : `${percent.format(cpu_pct)} %`],
    [
      memory === undefined ? "Memory" : `Memory of ${memory.replace(/(?=[GM]iB)/, " ")}`,
      mem_bytes === undefined ? unknown : sizeText(mem_bytes),
    ],
    ["Processes", String(processes ?? unknown)],
    ["Open pages", String(pages ?? unknown)],
    ["Clients", String(clients ?? unknown)],
    ["Viewers", String(viewers ?? unknown)],
  ];
}
