import { Button, Group, Modal, Skeleton } from "@mantine/core";
import type { Browser } from "@shoal/schemas";
import { useMutation } from "@tanstack/react-query";
import { Camera, Download } from "lucide-react";
import { useEffect } from "react";
import { blobOf } from "../../api/blob.ts";
import { useSignedIn } from "../../api/shoal.ts";
import { Failure } from "../../parts/states.tsx";

export function ScreenshotButton({ browser }: { readonly browser: Browser }) {
  const { session_id: id, name } = browser;
  const { shoal } = useSignedIn();
  const { data, error, isIdle, mutate, reset } = useMutation({
    mutationFn: async () => {
      const picture = await blobOf(await shoal.browsers.screenshot(id), "image/png");
      return { url: URL.createObjectURL(picture), at: new Date() };
    },
  });
  const url = data?.url;
  useEffect(() => {
    if (url === undefined) return undefined;
    return () => {
      URL.revokeObjectURL(url);
    };
  }, [url]);
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<Camera size={14} aria-hidden />}
        onClick={() => {
          mutate();
        }}
      >
        Screenshot
      </Button>
      <Modal opened={!isIdle} onClose={reset} title="Screenshot" size="xl">
        {error !== null && <Failure error={error} />}
        {url === undefined && error === null && <Skeleton height={320} aria-label="Taking the screenshot" />}
        {data !== undefined && (
          <>
            <img src={data.url} alt={`The front page of session ${name ?? id}`} style={{ width: "100%" }} />
            <Group justify="flex-end" mt="md">
              <Button
                component="a"
                href={data.url}
                download={`${name ?? id}-${data.at.toISOString().replaceAll(":", "-")}.png`}
                leftSection={<Download size={16} aria-hidden />}
              >
                Download
              </Button>
            </Group>
          </>
        )}
      </Modal>
    </>
  );
}
