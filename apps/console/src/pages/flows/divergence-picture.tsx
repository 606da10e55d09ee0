import { Button, Modal, Skeleton } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Image } from "lucide-react";
import { useEffect } from "react";
import { blobOf } from "../../api/blob.ts";
import { useSignedIn } from "../../api/shoal.ts";
import { Failure } from "../../parts/states.tsx";

interface DivergencePictureProps {
  readonly flowId: string;
  readonly runId: string;
  readonly row: number;
  readonly step: number;
}

/** Shows the page that differed. */
export function DivergencePicture({ flowId, row, runId, step }: DivergencePictureProps) {
  const { shoal } = useSignedIn();
  const {
    data: url,
    error,
    isIdle,
    mutate,
    reset,
  } = useMutation({
    mutationFn: async () =>
      URL.createObjectURL(await blobOf(await shoal.flows.runs.picture(flowId, runId, { row, step }), "image/jpeg")),
  });
  useEffect(() => {
    if (url === undefined) return undefined;
    return () => {
      URL.revokeObjectURL(url);
    };
  }, [url]);
  return (
    <>
      <Button
        mt="xs"
        size="xs"
        variant="default"
        leftSection={<Image size={14} aria-hidden />}
        onClick={() => {
          mutate();
        }}
      >
        Show the page
      </Button>
      <Modal opened={!isIdle} onClose={reset} title="The page that differed" size="xl">
        {error !== null && <Failure error={error} />}
        {url === undefined && error === null && <Skeleton height={320} aria-label="Reading the picture" />}
        {url !== undefined && <img src={url} alt="The page that differed" style={{ width: "100%" }} />}
      </Modal>
    </>
  );
}
