import type { RunCommand } from "@holodeck/agui-core";
import { expect, test } from "vitest";
import { createCommandInbox } from "../src/kit/index.ts";

const command = (id: string): RunCommand => ({ type: "tool-result", toolCallId: id });
const [first, second, third] = ["1", "2", "3"].map(command) as [RunCommand, RunCommand, RunCommand];

test("commands from before the run listens are delivered once, in order, before later ones", async () => {
  const inbox = createCommandInbox();
  const received: RunCommand[] = [];
  inbox.deliver(first);
  inbox.deliver(second);
  inbox.listen((one) => received.push(one));
  inbox.deliver(third);
  await Promise.resolve();
  expect(received).toEqual([first, second, third]);
  inbox.listen((one) => received.push(one));
  await Promise.resolve();
  expect(received).toHaveLength(3);
});

test("a run that leaves with its first command receives no other", async () => {
  const inbox = createCommandInbox();
  const received: RunCommand[] = [];
  inbox.deliver(first);
  inbox.deliver(second);
  const leave = inbox.listen((one) => {
    received.push(one);
    leave();
  });
  await Promise.resolve();
  inbox.deliver(third);
  expect(received).toEqual([first]);
});

test("commands wait for the next listener when the first left without any", async () => {
  const inbox = createCommandInbox();
  const received: RunCommand[] = [];
  inbox.deliver(first);
  inbox.listen(() => received.push(second))();
  await Promise.resolve();
  inbox.listen((one) => received.push(one));
  await Promise.resolve();
  expect(received).toEqual([first]);
});

test("a run that listens receives a command at once", () => {
  const inbox = createCommandInbox();
  const received: RunCommand[] = [];
  inbox.listen((one) => received.push(one));
  inbox.deliver(first);
  expect(received).toEqual([first]);
});
