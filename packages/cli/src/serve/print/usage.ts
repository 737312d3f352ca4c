export const serveUsage = `Usage: holodeck serve [agent.ts|agent.js|agent.yaml] [options]

Serves an agent over every protocol, with a chat page. Without a file it serves the demo agent,
which needs no key and no network.

  --port <number>          the port; 0 takes any free port (8000)
  --host <address>         the address; 0.0.0.0 is the whole network (127.0.0.1)
  --protocol <names>       ag-ui, copilotkit, vercel, openai, rest, threads; with commas (all)
  --cors-origins <list>    pages of other origins that may use the agent; * for all of them (none)
  --sessions <where>       memory, sqlite:PATH, redis://HOST:PORT or
                           postgres://HOST/DATABASE (memory)
  --debug                  log requests, responses and full stacks; send real errors to clients
  --open                   open the page in the browser
  --watch                  reload the agent when one of its files changes
  --no-playground          without the page
  -h, --help               this text
  -v, --version            the version

The environment is read too: AGUI_HOST, AGUI_PORT, AGUI_DEBUG, AGUI_CORS_ORIGINS, AGUI_MAX_THREADS,
AGUI_MAX_MESSAGES, AGUI_TOOL_TIMEOUT, LOG_LEVEL, LOG_FORMAT=json. Options override it.
`;
