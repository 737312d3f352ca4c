import { testRunLog, testSessionStore } from "@holodeck/agui-testing/vitest";
import { memorySessions } from "../src/index.ts";

testSessionStore("memory", memorySessions);
testRunLog("memory", memorySessions);
