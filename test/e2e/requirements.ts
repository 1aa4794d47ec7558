/** What skillmill promises, each with an id. A scenario cites ids in its title; coverage.test.ts fails on one that none cites. */
export const requirements = {
  'run-answer':
    '`skillmill run` prints the answer on stdout, writes the turn’s files below --out, and exits 0',
  'run-counts': 'the summary that the demo’s skill writes has the right counts',
  'run-json': 'with --json stdout is one JSON document that fits the published schema',
  'session-history': 'a second turn of a session sees the first turn’s messages',
  'command-fails':
    'a command that fails is told to the model with its output and exit code, and the turn goes on',
  'command-timeout': 'a command past its time is killed, told to the model, and the turn goes on',
  'skill-missing':
    'a skill that does not exist fails a turn that declares it, and is told to a model that asks for it',
  'model-down':
    'a model that answers 500 three times fails the turn with MODEL_UNAVAILABLE, exit 1, and the next turn works',
  'no-sandbox-left': 'no container is left after a turn, whatever its end',
  'warm-pool':
    'sandboxes are made ahead, serve one turn each, are replaced, and are noted in Redis with the turn that they serve',
  'files-in': 'files of a request are in work/inputs, byte for byte',
  'files-fetched':
    'files of a request come from URLs and artifacts too, byte for byte, before the first model call; one that cannot be had fails the turn, every fault named',
  'files-private':
    'a URL reaches no host that is not public unless the operator names it, and no password or query of one is shown',
  'files-binary': 'artifacts are byte for byte what the command wrote, binary and large ones too',
  'links-not-followed': 'a link that a command leaves in out/ is never followed',
  'redis-away': 'Redis not reachable: exit 3 within 5 s, one clear sentence, no stack trace',
  'redis-faults':
    'whatever happens to connections, or holds Redis up, a command fails with one clear sentence, and a turn waits and ends once',
  'redis-restart': 'a Redis that was away for 20 s: every turn ends once, without a restart',
  'redis-full':
    'a full Redis: enqueue fails and leaves nothing behind, a worker does not start, a running turn ends once when there is room',
  'docker-away':
    'Docker not reachable, or its image missing: the worker exits 3 within 5 s with one clear sentence',
  'service-tries':
    'a turn whose Docker goes away is tried again; when its tries are spent it fails with the last error, and its session goes on',
  'config-wrong': 'wrong variables: exit 2, all of them named with what they hold and may hold',
  'usage-wrong': 'wrong usage or a wrong request: exit 2, every fault named, nothing enqueued',
  drain: 'SIGTERM in the middle of a turn lets it finish; another worker takes the waiting ones',
  'hand-over':
    'a turn that is not finished within the grace time is handed to another worker, at its next step when that is soon',
  'worker-killed': 'a turn whose worker is killed ends in exactly one result, elsewhere',
  'between-attempts':
    'what a turn’s attempts have done is kept, and a cancel and a pause hold, whatever ends the next attempt before its first step, wherever the cancel comes from, and however far apart the hosts’ clocks are',
  'frozen-worker':
    'a worker that stood still for longer than its lease writes nothing more of that turn when it wakes, removes its sandbox, and goes on with others',
  chaos:
    'while workers, containers and Redis are killed at random, every accepted turn ends in one result, in order, and no finished tool call runs again',
  'worker-killed-always':
    'a turn that kills each of its workers ends as WORKER_LOST, and its session goes on',
  'on-busy-steer':
    'a message joins the running turn before its next model call, and none is lost with it',
  'on-busy-reject':
    'a turn with onBusy reject is refused as SESSION_BUSY while another of its session waits or runs, and leaves nothing behind',
  'on-busy-interrupt':
    'a turn with onBusy interrupt ends the running turn, whatever that does, with a valid history; turns that waited before it run before it',
  'delayed-turn':
    'a delayed turn takes its place when it falls due, though its job is lost; nobody waits for it before, and it can be cancelled',
  priorities:
    'sessions whose head has a higher priority go first when slots are short; turns of one session never change places',
  'same-key':
    'the same idempotency key of a session gives its first turn, however often and from wherever it is sent, also when that is over',
  'odd-ids': 'session ids and idempotency keys of any form are taken, and kept apart',
  'retry-command':
    '`skillmill retry` runs a failed or cancelled turn again as a new one: from its journal, or anew when the session has gone on; twice is once',
  'throttled-slot':
    'a turn that an endpoint asks to wait gives its slot up, and the worker’s other turns leave that endpoint alone as well',
  'session-order':
    'turns of a session run one at a time in the order of enqueueing, with several workers',
  'others-not-delayed': 'a waiting turn holds no worker slot: other sessions go on',
  'cancel-running':
    'a running turn can be cancelled from another process; its command and container go',
  'cancel-waiting': 'a waiting turn can be cancelled; it never runs',
  'interrupt-run': 'Ctrl-C in `run` cancels the turn and exits 130',
  'watch-result': 'watch shows a turn from its first event, and result fetches what it ended in',
  'event-seq': 'the events of a turn carry a seq that rises by one, and end with one final event',
  'skill-visibility': 'a skill that is not allowed to a turn is answered exactly as a missing one',
  'skill-content':
    'the instructions of a loaded skill reach the model in the tool result that loaded it, and stay a stub in history',
  'prompt-prefix': 'each request of a turn begins with all of the one before it',
  'local-executor':
    'the same turn works with the local executor, and the worker says that it isolates nothing',
  'eviction-policy': 'a worker refuses a Redis that may evict keys',
  compose: 'two workers of the compose file share one Redis and run turns',
  'split-shape':
    'client and workers in separate containers without a common folder run turns on a Redis Cluster',
  tenants: 'the same session id under two tenants is two sessions',
  'keys-expire': 'what a finished turn leaves in Redis expires, but for the named exceptions',
  'dynamic-tools':
    'of the toolbox the model may call what loaded skills selected, and nothing else; the list only grows',
  'mcp-tools':
    'tools of MCP servers are offered like the toolbox’s own; a server that ends is started again, and ends with the worker',
  'select-docs': 'documents are listed, selected and cleared by name; each is brought once',
  'load-modes':
    'a loaded skill stays for a turn, a session or one request, and the last used ones only',
  'skill-prompt':
    'the prompt offers what is registered, where it is configured, within its budgets',
  'model-quirks':
    'whatever an endpoint does differently, the turn goes on and the next request is one that a strict server takes',
  'model-stream':
    'what a model says is published as it comes; a call that is made again discards it first',
  'tool-calls':
    'calls of one reply run together where they may, and each is answered once, in order, whatever becomes of it',
  'loop-detected':
    'a model that makes the same calls with the same results is told, and then the turn fails',
  'output-limit': 'an answer that is cut at the output limit is gone on with once',
  'last-chance': 'when the model calls are used up the model may answer once more, without tools',
  'fallback-models': 'a model that is away is stood in for by the next one',
  'retry-after':
    'an endpoint’s wish to be left alone is obeyed within bounds, and the wait can be cancelled',
  'response-format': 'an answer of a given form is checked, and the result carries it as data',
  'context-window':
    'a conversation that is too long is shortened, and stays one that a strict server takes',
  budgets:
    'a budget of a turn, session, batch or tenant is never passed by more than one model call, whatever runs in parallel; what was done is kept',
  'usage-report':
    '`skillmill usage` adds up what every turn used and cost, by session, tenant, model and skill',
  'hostile-model':
    'nothing that a model replies ends a worker, hides a result or spoils a session’s history',
  'left-behind':
    'what a killed worker leaves is removed by the others, who say nothing of what another removed first; what the living hold stays',
  'hostile-suite':
    'whatever a command attacks, the next one of its turn returns the right bytes and finds its files; nothing is left on the host',
  'hostile-command':
    'nothing that a command does holds a worker up or fails its turn’s other steps',
  secrets: 'the operator’s keys and passwords are in no result, event, error, log or record',
  'workspace-follows':
    'a session’s files are there in its next turn on whatever worker, as the last finished command left them: bytes, modes, times, links, empty folders',
  'workspace-checkpoint':
    'what a finished command has left outlives its sandbox and stays when the turn fails or is cancelled; a command that was cut short leaves nothing, but what another of the same reply left stays',
  'workspace-limit':
    'a workspace past the limit is told to the model, and fails a turn that ends so; the version before stays in force',
  'blobs-in-bucket':
    'files over 256 KiB travel through a bucket of an S3 server between clients and workers that share no folder',
  'artifacts-fetched':
    'what a session has kept is listed and fetched from outside, byte for byte, long after its sandbox is gone',
  garbage:
    'stored files that nothing refers to are collected while workers run; nothing that a session, a result or a running turn refers to ever is',
  'session-commands':
    'a session is shown with its messages, artifacts and files, and emptied when no turn of it is open',
  'schema-published': 'the contracts can be had as JSON Schema',
  'skills-list':
    '`skills list` and `show` tell of every skill and of all that is wrong, without Redis; they print nothing that a terminal would obey',
  'skills-validate':
    '`skills validate` prints every fault with file, line and rule, and exits 1 only when one is an error',
  'skills-frozen': 'a frozen worker uses no skill that is not as the skills lock says',
  'skill-gating':
    'a skill that is disabled, or that requires what the sandbox’s image or the operator does not give, is refused with the reason; a filtered one is as missing',
  'skill-environment':
    'a skill’s commands find the operator’s variables, unless the call sets them; no result, event, log or command line shows them',
  'run-inputs':
    'inputs of a command come from artifacts, the workspace, skills and allowed folders of the worker, byte for byte, and from nowhere else; they go nowhere but below work, out and runs',
  'run-pin': 'a pinned input keeps to its version in the session’s later turns',
  'run-outputs':
    'outputs are collected within the call’s limits, named as it says and told in a manifest; what is left out is never kept as whole',
  'run-output-whole':
    'output that is too long for the model is cut in its middle, and whole in the run’s folder',
  'run-editor': 'a program that starts an editor gets the call’s text',
  'run-venv': 'a skill’s Python environment is active once it is there',
  'run-policy':
    'where the operator restricts commands they run without a shell, and no other program is started',
  'step-not-twice':
    'a finished step is never done twice: a turn that is tried again goes on from its journal, at the very request that was lost',
  'call-again':
    'a tool call that was under way when its worker died runs again, with the same key, and says so',
  'deltas-discarded': 'what a model had said of an answer that was lost is discarded',
  'skills-pinned':
    'a turn keeps to the bytes of the skills that it has used, on whatever worker it goes on',
  schedules:
    'a schedule enqueues one turn at each planned time of its cron, however many workers run, until it is removed; what is wrong with one is told at once, when it is added',
  'skills-lock':
    '`skills lock` pins every skill by its digest, and `skills verify` names each that is changed, missing or extra',
} as const;
