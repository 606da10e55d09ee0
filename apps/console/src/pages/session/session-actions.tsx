import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { Browser } from "@shoal/schemas";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { AlarmClockPlus, FileArchive, Square } from "lucide-react";
import { saveAnswer } from "../../api/save-answer.ts";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { momentText } from "../../base/texts.ts";
import { useAction } from "../../parts/action.ts";
import { tell, tellFailure } from "../../parts/notices.ts";
import { EndSessions } from "../sessions/end-sessions.tsx";
import { SnapshotButton } from "../snapshots/snapshot-button.tsx";
import { ConnectButton } from "./connect/connect-button.tsx";
import { RecordButton } from "./record-button.tsx";
import { ScreenshotButton } from "./screenshot-button.tsx";

const hourSeconds = 3600;

export function SessionActions({ browser }: { readonly browser: Browser }) {
  const canOperate = useCanOperate();
  if (!canOperate) return null;
  if (browser.deleted_at !== undefined) return <EvidenceButton browser={browser} />;
  return (
    <>
      <ConnectButton sessionId={browser.session_id} />
      <EvidenceButton browser={browser} />
      <ScreenshotButton browser={browser} />
      <RecordButton browser={browser} />
      <SnapshotButton browser={browser} />
      <ExtendButton browser={browser} />
      <EndButton browser={browser} />
    </>
  );
}

/** Saves all stored data of the session as one signed archive. */
function EvidenceButton({ browser: { session_id: id } }: { readonly browser: Browser }) {
  const { project } = useSignedIn();
  const save = useAction({
    act: () => saveAnswer({ project: project?.id, path: `/browsers/${id}/evidence`, name: `${id}-evidence.zip` }),
    changes: [],
  });
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<FileArchive size={14} aria-hidden />}
      title="Telemetry, HAR, trace, outlines, pictures, recordings and downloads in one signed archive"
      loading={save.isPending}
      onClick={() => {
        save.mutate();
      }}
    >
      Evidence
    </Button>
  );
}

/** Only a session with a maximum duration can be extended: the others run while they are used. */
function ExtendButton({ browser }: { readonly browser: Browser }) {
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  const extend = useMutation({
    mutationFn: () => shoal.browsers.extend(browser.session_id, { max_duration_seconds: hourSeconds }),
    onSuccess({ ends_at }) {
      tell(ends_at === undefined ? "The session was extended." : `The session ends at ${momentText(ends_at)}.`);
      void queries.invalidateQueries({ queryKey: ["browser", browser.session_id] });
    },
    onError: tellFailure,
  });
  if (browser.max_duration_seconds === undefined) return null;
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<AlarmClockPlus size={14} aria-hidden />}
      loading={extend.isPending}
      onClick={() => {
        extend.mutate();
      }}
    >
      One more hour
    </Button>
  );
}

function EndButton({ browser }: { readonly browser: Browser }) {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button size="xs" variant="light" color="red" leftSection={<Square size={14} aria-hidden />} onClick={open}>
        End
      </Button>
      <EndSessions sessions={isOpen ? [browser] : undefined} close={close} />
    </>
  );
}
