import { Button, Group, Modal, Progress, Stack, Text } from "@mantine/core";
import "@mantine/core/styles/Progress.css";
import { ApiError } from "@shoal/client";
import type { Browser } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useSignedIn } from "../../api/shoal.ts";
import { tell, tellFailureOf } from "../../parts/notices.ts";

const isNotFound = (error: unknown) => ApiError.isInstance(error) && error.status === 404;

/** As many requests as browsers send to one server at once. */
const atOnce = 6;

interface EndSessionsProps {
  /** `undefined` = closed. */
  readonly sessions: readonly Browser[] | undefined;
  readonly close: () => void;
  /** Receives the ended sessions. */
  readonly done?: ((ids: readonly string[]) => void) | undefined;
}

/** Asks before it ends sessions, and shows how many have ended. Closing it leaves the rest running. */
export function EndSessions({ sessions, close, done }: EndSessionsProps) {
  const [first, ...others] = sessions ?? [];
  const what =
    others.length > 0 ? `${others.length + 1} sessions` : `session ${first?.name ?? first?.session_id ?? ""}`;
  return (
    <Modal opened={first !== undefined} onClose={close} title={`End ${what}?`} transitionProps={{ exitDuration: 0 }}>
      {sessions !== undefined && <Ending sessions={sessions} close={close} done={done} />}
    </Modal>
  );
}

function Ending({ sessions, close, done }: EndSessionsProps & { readonly sessions: readonly Browser[] }) {
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  const [ended, setEnded] = useState<number>();
  const isOpen = useRef(true);
  useEffect(() => {
    isOpen.current = true;
    return () => {
      isOpen.current = false;
    };
  }, []);
  async function end(): Promise<void> {
    const waiting = sessions.map(({ session_id }) => session_id);
    const gone: string[] = [];
    const failures: unknown[] = [];
    setEnded(0);
    while (waiting.length > 0 && isOpen.current) {
      const next = waiting.splice(0, atOnce);
      const answers = await Promise.allSettled(next.map((id) => shoal.browsers.delete(id)));
      for (const [index, answer] of answers.entries())
        // A session that is not found has ended already.
        if (answer.status === "fulfilled" || isNotFound(answer.reason)) gone.push(next[index] ?? "");
        else failures.push(answer.reason);
      setEnded(gone.length);
    }
    if (gone.length > 0) tell(gone.length === 1 ? "The session has ended." : `${gone.length} sessions have ended.`);
    if (failures.length > 0)
      tellFailureOf(
        failures.length === 1 ? "A session did not end" : `${failures.length} sessions did not end`,
        failures[0],
      );
    done?.(gone);
    await queries.invalidateQueries({
      predicate: ({ queryKey }) => ["browser", "browsers"].includes(String(queryKey[0])),
    });
    if (isOpen.current) close();
  }
  return (
    <Stack>
      <Text size="sm">
        {sessions.length > 1 ? "Their browsers and files are deleted." : "Its browser and files are deleted."}{" "}
        Recordings, telemetry and kept downloads stay until their retention ends.
      </Text>
      {ended !== undefined && sessions.length > 1 && (
        <Progress value={(ended / sessions.length) * 100} aria-label={`${ended} of ${sessions.length} have ended`} />
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={close} data-autofocus>
          Cancel
        </Button>
        <Button
          color="red"
          loading={ended !== undefined}
          onClick={() => {
            void end();
          }}
        >
          {sessions.length > 1 ? `End ${sessions.length} sessions` : "End the session"}
        </Button>
      </Group>
    </Stack>
  );
}
