import { Anchor, Badge, Button, Stack, TextInput } from "@mantine/core";
import type { Browser, ListedProcess } from "@shoal/schemas";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Ban, Cpu, Moon, OctagonX, Play, ScrollText } from "lucide-react";
import { type SyntheticEvent, useCallback, useState } from "react";
import { useCanOperate, useSignedIn } from "../../../api/shoal.ts";
import { sizeText } from "../../../base/texts.ts";
import { useAction } from "../../../parts/action.ts";
import { fieldErrorsOf } from "../../../parts/forms/field-errors.ts";
import { Ago } from "../../../parts/moment.tsx";
import { shownError } from "../../../base/shown-error.ts";
import { Empty } from "../../../parts/states.tsx";
import { type Column, ResourceTable } from "../../../parts/table/resource-table.tsx";
import { type RowAction, RowMenu } from "../../../parts/table/row-menu.tsx";
import { useList } from "../../../parts/table/use-list.ts";
import { exitText } from "./exit-text.ts";
import { LoadFigures } from "./load-figures.tsx";
import { OutputCard } from "./output-card.tsx";
import styles from "./processes.module.css";

const refreshMs = 3000;
/** The service does not count the request as use of the session. */
const passive = { "x-shoal-passive": "1" };

type Shown = Pick<ListedProcess, "process_id" | "command">;

export function ProcessesTab({ browser }: { readonly browser: Browser }) {
  if (browser.deleted_at !== undefined)
    return (
      <Empty icon={Cpu} title="The session has ended">
        Its processes ended with it.
      </Empty>
    );
  if (browser.asleep_since !== undefined)
    return (
      <Empty icon={Moon} title="The session sleeps">
        Its processes are frozen until the next use.
      </Empty>
    );
  return <Running browser={browser} />;
}

function Running({ browser }: { readonly browser: Browser }) {
  const { session_id: id } = browser;
  const queries = useQueryClient();
  const canOperate = useCanOperate();
  const [shown, setShown] = useState<Shown>();
  const refresh = useCallback(() => void queries.invalidateQueries({ queryKey: ["processes", id] }), [queries, id]);
  return (
    <Stack gap="md">
      <LoadFigures browser={browser} />
      {canOperate && (
        <RunForm
          id={id}
          started={(process) => {
            refresh();
            setShown(process);
          }}
        />
      )}
      {shown !== undefined && (
        <OutputCard
          key={shown.process_id}
          id={id}
          processId={shown.process_id}
          command={shown.command}
          close={() => {
            setShown(undefined);
          }}
          exited={refresh}
        />
      )}
      <ProcessList id={id} show={setShown} />
    </Stack>
  );
}

interface RunFormProps {
  readonly id: string;
  readonly started: (process: Shown) => void;
}

function RunForm({ id, started }: RunFormProps) {
  const { shoal } = useSignedIn();
  const [command, setCommand] = useState("");
  const { error, isPending, mutate } = useMutation({
    mutationFn: async (line: string) => shoal.browsers.process.spawn(id, { command: line }),
    onSuccess({ process_id }, line) {
      setCommand("");
      started({ process_id, command: line });
    },
  });
  return (
    <form
      className={styles.run}
      onSubmit={(event: SyntheticEvent) => {
        event.preventDefault();
        mutate(command);
      }}
    >
      <TextInput
        label="Start a process"
        description="A program or a line for the shell. It runs with the files and the network of the session."
        placeholder="ls -la ~/Downloads"
        value={command}
        onChange={({ currentTarget: { value } }) => {
          setCommand(value);
        }}
        error={error === null ? undefined : (fieldErrorsOf(error).get("command") ?? shownError(error))}
        required
        autoComplete="off"
        spellCheck={false}
      />
      <Button type="submit" loading={isPending} leftSection={<Play size={16} aria-hidden />}>
        Start
      </Button>
    </form>
  );
}

interface ProcessListProps {
  readonly id: string;
  readonly show: (process: Shown) => void;
}

function ProcessList({ id, show }: ProcessListProps) {
  const { shoal } = useSignedIn();
  const canOperate = useCanOperate();
  const list = useList(
    ["processes", id],
    (page, options) => shoal.browsers.process.list(id, page, { ...options, headers: passive }),
    refreshMs,
  );
  const kill = useAction({
    act: ({ process_id, signal }: ListedProcess & { readonly signal: "TERM" | "KILL" }) =>
      shoal.browsers.process.kill(id, process_id, { signal }),
    told: (_ok, { pid, signal }) => `Process ${pid} was sent ${signal}.`,
    changes: [["processes", id]],
  });
  return (
    <ResourceTable
      label="Processes"
      list={list}
      idOf={({ process_id }) => process_id}
      columns={columnsWith(show)}
      menu={(process) => (
        <RowMenu
          label={`Actions of process ${process.pid}`}
          actions={[
            {
              label: "Show its output",
              icon: ScrollText,
              run: () => {
                show(process);
              },
            },
            ...(canOperate && process.state === "running"
              ? endings(process, (signal) => {
                  kill.mutate({ ...process, signal });
                })
              : []),
          ]}
        />
      )}
      empty={
        <Empty icon={Cpu} title="No process was started">
          Processes that programs, terminals and this page start appear here. Chromium and its children are counted
          above.
        </Empty>
      }
    />
  );
}

function endings(
  { command, pid }: ListedProcess,
  send: (signal: "TERM" | "KILL") => void,
): readonly [RowAction, RowAction] {
  return [
    {
      label: "End",
      icon: OctagonX,
      isDangerous: true,
      confirm: {
        title: `End process ${pid}?`,
        text: `"${command}" and its children are asked to end (TERM).`,
        action: "End the process",
      },
      run: () => {
        send("TERM");
      },
    },
    {
      label: "Kill",
      icon: Ban,
      isDangerous: true,
      confirm: {
        title: `Kill process ${pid}?`,
        text: `"${command}" and its children end at once (KILL). They cannot save anything.`,
        action: "Kill the process",
      },
      run: () => {
        send("KILL");
      },
    },
  ];
}

const columnsWith = (show: (process: Shown) => void): readonly Column<ListedProcess>[] => [
  {
    name: "Command",
    share: 3,
    cell: (process) => (
      <Anchor
        component="button"
        type="button"
        className={styles.command}
        onClick={() => {
          show(process);
        }}
      >
        <bdi>{process.command}</bdi>
      </Anchor>
    ),
  },
  { name: "Process", cell: ({ pid }) => pid },
  { name: "State", cell: (process) => <State process={process} />, share: 1.4 },
  { name: "Processor", cell: ({ cpu_pct }) => cpu_pct !== undefined && `${Math.round(cpu_pct)} %` },
  { name: "Memory", cell: ({ mem_bytes }) => mem_bytes !== undefined && sizeText(mem_bytes) },
  { name: "Started", cell: ({ started_at }) => <Ago at={started_at} /> },
];

function State({ process: { state, exit_code, tty } }: { readonly process: ListedProcess }) {
  if (state === "running")
    return (
      <Badge variant="dot" color="green" tt="none">
        {tty ? "In a terminal" : "Running"}
      </Badge>
    );
  return (
    <Badge variant="light" color={exit_code === 0 ? "gray" : "red"} tt="none">
      {exitText(exit_code ?? 0)}
    </Badge>
  );
}
