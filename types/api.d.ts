// Generated from the OpenAPI schema: run script/goldens after a change of the API.

declare namespace Api {
  interface AddedData {
    found: number;
    new: number;
  }

  interface AutoBody {
    player?: string | null;
    speed?: number;
    running?: boolean;
  }

  interface AutoData {
    player: string;
    speed: number;
    running: boolean;
    error: string;
  }

  interface BoardPresetData {
    board: string;
    label: string;
  }

  interface BranchBody {
    at: number;
    moves?: string;
    reviewer?: string;
  }

  interface ChangeData {
    state: StateData;
    turns: Array<TurnData>;
    kind: "moves" | "undo" | "redo" | "auto" | "open" | "saved";
  }

  interface ChartData {
    title: string;
    figure: Record<string, unknown>;
    table: TableData;
    csv: string;
  }

  interface CheckpointData {
    spec: string;
    bytes: number;
    changed: string;
    minutes: number;
    n_moves: number;
    n_games: number;
    mean: number;
    number: number;
    wished: boolean;
    is_last: boolean;
  }

  interface CommandData {
    command: string;
  }

  interface ConsideredData {
    move: string;
    is_safe: boolean;
    state_score: number;
    horizontal_score: number;
    n_empty_lines: number;
    mergeable: number;
    is_locked: boolean;
  }

  interface DailyData {
    date: string;
    seed: number;
    player: string;
    mine: ResultData | null;
    champion: ResultData | null;
  }

  interface DamagedData {
    name: string;
    state: "damaged" | "unfinished";
    reason: string;
    bytes: number;
  }

  interface DeletedData {
    deleted: number;
  }

  interface DesignData {
    rules: RulesData;
    shape: ShapeData;
    ranks: Array<number>;
    n_empty: number;
    max_tile_possible: number;
    default_player: string;
    commands: Record<string, string>;
    can_solve: boolean;
    why_not: string;
  }

  type Difficulty = "start" | "easy" | "medium" | "hard";

  interface EndgameData {
    rate: number;
    goal: number;
    formation: string;
    text: string;
  }

  interface EntryData {
    x: number;
    y: number;
    cell: number;
    outline: number;
    name: string;
  }

  interface Error {
    error: string;
    code: string;
    field: string | null;
    hint: string | null;
  }

  interface EstimateBody {
    rules: RulesBody;
    objective?: "score" | "win";
  }

  interface EstimateData {
    afterstates: number;
    states: number;
    seconds: number;
    disk: number;
    memory: number;
    free_disk: number;
    free_memory: number;
    is_exact: boolean;
    is_least: boolean;
    fits: boolean;
    how: string;
    verdict: string;
    command: string;
  }

  interface FigureData {
    measure: string;
    published: string;
    where: string;
    ours: string;
    interval: string;
    n: string;
    word: string;
    agreement: string;
  }

  interface FigureGroup {
    title: string;
    figures: Array<FigureData>;
  }

  interface ForkBody {
    at: number;
  }

  interface FormationData {
    name: string;
    map: string;
    shape: ShapeData;
    ranks: Array<number>;
    goal: number;
    goal_cells: Array<number>;
    free: number;
    positions: number;
    rate: number;
    shipped: boolean;
    figures: PracticeFiguresData;
  }

  interface GameData {
    state: StateData;
    shape: ShapeData;
    moves: string;
    first: Array<number>;
    day: string | null;
    commands: Record<string, string>;
  }

  interface GameList {
    games: Array<Listed>;
    has_more: boolean;
    damaged: number;
  }

  interface GoneData {
    deleted: string;
    undo: string;
  }

  interface HardList {
    positions: Array<HardPosition>;
    looked_at: number;
  }

  interface HardPosition {
    board: string;
    ranks: Array<number>;
    best: number;
    best_name: string;
    value: number;
    loss: number | null;
    obvious: number;
    obvious_name: string;
    obvious_value: number;
    obvious_loss: number | null;
    is_trap: boolean;
  }

  interface HintBody {
    game?: number | null;
    board?: string | null;
    rules?: RulesBody | null;
    player?: string | null;
  }

  interface HintData {
    player: string;
    ms: number;
    move: number | null;
    unit: string;
    depth: number;
    nodes: number;
    confidence: number | null;
    endgame: EndgameData | null;
    rev: number | null;
    values: Array<ValueData>;
    sentence: string;
    command: string;
  }

  interface Imported {
    imported: number;
    already: number;
    refused: number;
    errors: Array<string>;
    ids: Array<number>;
  }

  interface JobData {
    id: string;
    kind: string;
    title: string;
    command: string;
    state: "queued" | "running" | "ending" | "done" | "failed" | "cancelled" | "interrupted" | "damaged";
    progress: number | null;
    message: string;
    created: string;
    started: string | null;
    ended: string | null;
    seconds: number;
    can_cancel: boolean;
    can_resume: boolean;
    request: Record<string, unknown>;
    result: Record<string, unknown> | null;
  }

  interface JobList {
    jobs: Array<JobData>;
  }

  interface JobOptions {
    has_cluster: boolean;
  }

  interface KindData {
    kind: string;
    prefix: string;
    keys: string;
    parameters: Array<ParameterData>;
    presets: Array<BoardPresetData>;
  }

  interface Listed {
    id: number;
    created: string;
    kind: string;
    board: string;
    player: string;
    players: Array<string>;
    seed: number;
    score: number;
    highest: number;
    n_moves: number;
    won: boolean;
    seconds: number;
  }

  interface LogData {
    lines: Array<string>;
  }

  interface MatchBody {
    cluster?: "auto" | "local" | null;
    players: Array<string>;
    rules?: RulesBody;
    games?: number;
    seed?: number;
  }

  interface MatchData {
    job: JobData;
    result: Record<string, unknown>;
  }

  interface MethodData {
    name: string;
    title: string;
    doc: string;
    why_not: string;
    options: Array<OptionData>;
  }

  interface MilestoneData {
    tile: number;
    move: number;
  }

  interface MomentData {
    kind: string;
    move: number;
    change: number;
  }

  interface MoveData {
    letter: string;
    name: string;
    glyph: string;
    dx: number;
    dy: number;
    angle: number;
    arrow_key: string;
    digit: string;
  }

  interface MoveProbed {
    move: number;
    name: string;
    value: number;
    loss: number | null;
    reward: number;
    ranks: Array<number>;
  }

  interface MovesBody {
    moves: string;
    rev?: number | null;
    mover?: string;
  }

  interface NewGame {
    rules?: RulesBody;
    seed?: number | null;
    player?: string;
  }

  interface NextData {
    puzzle: PuzzleData | null;
    progress: ProgressData;
  }

  interface NoteData {
    turn: number;
    text: string;
    inner: string;
    proposed: string;
    safe: Array<string>;
    masked: string;
    made: string;
    considered: Array<ConsideredData>;
  }

  interface OptionData {
    name: string;
    kind: string;
    default: unknown;
    doc: string;
    known: Array<string>;
    low: number | null;
    high: number | null;
  }

  interface OptionList {
    methods: Array<MethodData>;
    networks: Array<string>;
  }

  type Outcome = "won" | "lost" | "misplaced";

  interface ParameterData {
    name: string;
    default: number;
    options: Array<[number, string]>;
  }

  interface PhaseData {
    name: string;
    first_move: number;
    n_moves: number;
    accuracy: number;
    error_rate: number;
    luck: number;
    skill: number;
  }

  interface PlayerData {
    name: string;
    doc: string;
    unit: string;
    options: Array<PlayerOption>;
  }

  interface PlayerList {
    default: string;
    presets: Array<PresetData>;
    players: Array<PlayerData>;
  }

  interface PlayerOption {
    name: string;
    kind: string;
    default: unknown;
    doc: string;
  }

  interface PositionData {
    ranks: Array<number>;
    score: number;
    over: boolean;
    turns: Array<TurnData>;
    values: Array<ValueData>;
    unit: string;
    line: Array<TurnData>;
  }

  interface PracticeDraw {
    difficulty?: Difficulty;
    board?: string | null;
    mistakes?: boolean;
    seed?: number | null;
  }

  interface PracticeFiguresData {
    n_moves: number;
    n_good: number;
    n_ended: number;
    n_won: number;
    streak: number;
    best_streak: number;
    n_mistakes: number;
    n_due: number;
  }

  interface PracticeList {
    formations: Array<FormationData>;
    unbuilt: Array<UnbuiltData>;
  }

  interface PracticeMade {
    good: boolean;
    move: number;
    best: number;
    noted: boolean;
    unit: string;
    values: Array<ValueData>;
    spawn: SpawnedData | null;
    outcome: Outcome | null;
    position: PracticePosition;
    figures: PracticeFiguresData;
  }

  interface PracticeMove {
    board: string;
    move: number;
    worst?: number;
    puzzle?: number | null;
    seed?: number | null;
  }

  interface PracticePosition {
    board: string;
    ranks: Array<number>;
    legal: Array<number>;
    puzzle: number | null;
    command: string;
  }

  interface PresetData {
    spec: string;
    label: string;
    doc: string;
    fits: boolean;
    minor: boolean;
  }

  interface ProbeBody {
    board?: string | null;
    ranks?: Array<number> | null;
    move?: number | null;
  }

  interface ProbeData {
    board: string;
    ranks: Array<number>;
    objective: string;
    value: number;
    loss: number | null;
    best: number | null;
    over: boolean;
    won: boolean;
    moves: Array<MoveProbed>;
    followed: number | null;
    spawns: Array<SpawnProbed>;
    command: string;
  }

  interface ProgressData {
    rating: number;
    n_attempts: number;
    n_right: number;
    n_due: number;
    n_puzzles: number;
  }

  interface PuzzleData {
    id: number;
    shape: ShapeData;
    ranks: Array<number>;
    legal: Array<number>;
    rating: number;
    source: string;
  }

  interface RankingData {
    title: string;
    heads: Array<string>;
    rows: Array<Array<string>>;
  }

  interface ReadyData {
    ready: boolean;
    doing: string;
  }

  interface ReplayData {
    state: StateData;
    shape: ShapeData;
    first: Array<number>;
    score: number;
    turns: Array<TurnData>;
    command: string;
  }

  interface RestoredData {
    restored: string;
  }

  interface ResultData {
    game: number;
    score: number;
    highest: number;
    n_moves: number;
  }

  interface ReviewBody {
    reviewer?: string;
  }

  interface ReviewData {
    reviewer: string;
    unit: string;
    n_moves: number;
    is_over: boolean;
    score: number;
    initial_value: number;
    luck: number;
    skill: number;
    drift: number;
    final_score: number;
    luck_adjusted_score: number;
    accuracy: number;
    error_rate: number;
    grades: Record<string, number>;
    phases: Array<PhaseData>;
    milestones: Array<MilestoneData>;
    key_moments: Array<MomentData>;
    worst_moves: Array<number>;
    luckiest: Array<SpawnData>;
    unluckiest: Array<SpawnData>;
    values: Array<number>;
    losses: Array<number>;
    lucks: Array<number>;
    best: Array<number>;
    grade_letters: string;
  }

  interface ReviewState {
    game: number;
    state: string;
    reviewer: string;
    n_done: number;
    n_moves: number;
    error: string;
    version: string;
    review: ReviewData | null;
    command: string;
  }

  interface RulesBody {
    board: string;
    goal?: number;
    spawn?: string;
    start?: number | null;
    spawner?: string;
    stop_at_goal?: boolean;
  }

  interface RulesData {
    board: string;
    goal: number;
    spawn: string;
    start: number;
    spawner: string;
    stop_at_goal: boolean;
  }

  interface ShapeData {
    board: string;
    name: string;
    n_cells: number;
    kind: string;
    sizes: Array<number>;
    size_text: string;
    row_noun: string;
    map_prefix: string;
    boxed: boolean;
    left: number;
    top: number;
    width: number;
    height: number;
    outlines: Array<Array<[number, number]>>;
    entries: Array<EntryData>;
    rows: Array<Array<number>>;
    moves: Array<MoveData>;
    lines: Array<Array<Array<number>>>;
    holding: Array<Array<number>>;
    free_rank: number;
    n_symmetries: number;
  }

  interface SolveBody {
    cluster?: "auto" | "local" | null;
    rules: RulesBody;
    objective?: "score" | "win";
    name?: string | null;
    exact?: boolean;
    anyway?: boolean;
  }

  interface SolvedData {
    name: string;
    rules: RulesData;
    objective: string;
    value: number;
    loss: number | null;
    states: number;
    afterstates: number;
    layers: number;
    bytes: number;
    spec: string;
    job: string | null;
  }

  interface SolvedList {
    tables: Array<SolvedData>;
    others: Array<DamagedData>;
  }

  interface SolvedShown {
    name: string;
    rules: RulesData;
    objective: string;
    value: number;
    loss: number | null;
    states: number;
    afterstates: number;
    layers: number;
    bytes: number;
    spec: string;
    job: string | null;
    shape: ShapeData;
    start: Array<number>;
    chart: ChartData;
  }

  interface SpawnData {
    move: number;
    cell: number;
    tile: number;
    luck: number;
  }

  interface SpawnProbed {
    cell: number;
    rank: number;
    probability: number;
    value: number;
    loss: number | null;
    ranks: Array<number>;
  }

  interface SpawnedData {
    cell: number;
    rank: number;
  }

  interface SpecBody {
    spec: string;
    board?: string;
  }

  interface SpecData {
    spec: string;
  }

  interface StateData {
    id: number;
    rev: number;
    rules: RulesData;
    seed: number;
    is_from_seed: boolean;
    ranks: Array<number>;
    score: number;
    n_moves: number;
    highest: number;
    won: boolean;
    over: boolean;
    legal: Array<number>;
    can_undo: boolean;
    can_redo: boolean;
    best: number;
    best_assisted: number;
    mover: string;
    movers: Array<[number, string]>;
    saved: boolean;
    auto: AutoData | null;
  }

  interface StatusData {
    program: string;
    ready: boolean;
    doing: string;
    cores: number;
    interrupted: Array<string>;
    store: string;
    unsaved: number;
  }

  interface StepBody {
    player?: string | null;
    rev?: number | null;
  }

  interface StepsBody {
    n?: number;
    rev?: number | null;
  }

  interface StudyBody {
    cluster?: "auto" | "local" | null;
    name: string;
    size?: "tiny" | "quick" | "full";
  }

  interface StudyData {
    name: string;
    title: string;
    doc: string;
  }

  interface StudyList {
    studies: Array<StudyData>;
  }

  interface StudyReport {
    name: string;
    title: string;
    question: string;
    source: string;
    summary: string;
    n_measured: number;
    groups: Array<FigureGroup>;
    rankings: Array<RankingData>;
    assumptions: Array<string>;
    command: string;
  }

  interface TableData {
    columns: Array<string>;
    rows: Array<Array<unknown>>;
  }

  interface TrainingBody {
    cluster?: "auto" | "local" | null;
    name: string;
    method?: string;
    network?: string | null;
    minutes?: number;
    rules?: RulesBody;
    options?: Record<string, string | number | boolean>;
    resume?: boolean;
  }

  interface TrainingData {
    spec: string;
    bytes: number;
    changed: string;
    minutes: number;
    n_moves: number;
    n_games: number;
    mean: number;
    name: string;
    method: string;
    board: string;
    rules: RulesData;
    network: string;
    n_weights: number;
    job: string | null;
  }

  interface TrainingList {
    trainings: Array<TrainingData>;
    damaged: Array<DamagedData>;
  }

  interface TrainingPlan {
    command: string;
    bytes: number;
    last_bytes: number;
    free: number;
    writes: string;
    network: string;
  }

  interface TrainingShown {
    training: TrainingData | null;
    job: JobData | null;
    checkpoints: Array<CheckpointData>;
    damaged: Array<DamagedData>;
  }

  interface TrashData {
    bytes: number;
  }

  interface TriedData {
    right: boolean;
    best: number;
    made: number;
    unit: string;
    reviewer: string;
    values: Array<ValueData>;
    progress: ProgressData;
  }

  interface TryBody {
    move: number;
  }

  interface TurnData {
    number: number;
    move: number;
    mover: string;
    reward: number;
    cell: number;
    rank: number;
  }

  interface UnbuiltData {
    name: string;
    map: string;
    goal: number;
    free: number;
    positions: number;
    bytes: number;
    seconds: number;
    command: string;
  }

  interface ValueData {
    move: number;
    name: string;
    value: number;
    loss: number;
    error: number | null;
    grade: string;
  }

  interface Routes {
    GET: {
      "/api/status": {
        answer: StatusData;
      };
      "/api/ready": {
        query?: { player?: string | null; solve?: boolean };
        answer: ReadyData;
      };
      "/api/events": {
        query: { tab: string; games?: string; once?: boolean };
        answer: string;
      };
      "/api/games": {
        query?: { limit?: number; offset?: number; board?: string | null; player?: string | null; kind?: string | null; best?: boolean };
        answer: GameList;
      };
      "/api/games/export": {
        query?: { ids?: string };
        answer: string;
      };
      "/api/games/unsaved": {
        answer: string;
      };
      "/api/games/{game}/export": {
        path: { game: number };
        answer: string;
      };
      "/api/games/{game}": {
        path: { game: number };
        answer: GameData;
      };
      "/api/games/{game}/replay": {
        path: { game: number };
        query?: { first?: number; last?: number };
        answer: ReplayData;
      };
      "/api/games/{game}/notes/{turn}": {
        path: { game: number; turn: number };
        answer: NoteData;
      };
      "/api/games/{game}/review": {
        path: { game: number };
        query?: { reviewer?: string; known?: string };
        answer: ReviewState;
      };
      "/api/games/{game}/review.json": {
        path: { game: number };
        query?: { reviewer?: string };
        answer: Record<string, unknown>;
      };
      "/api/games/{game}/review.html": {
        path: { game: number };
        query?: { reviewer?: string };
        answer: string;
      };
      "/api/puzzles/next": {
        answer: NextData;
      };
      "/api/practice": {
        answer: PracticeList;
      };
      "/api/daily": {
        answer: DailyData;
      };
      "/api/players": {
        query?: { board?: string };
        answer: PlayerList;
      };
      "/api/shape": {
        query: { board: string };
        answer: ShapeData;
      };
      "/api/shape/kinds": {
        answer: Array<KindData>;
      };
      "/api/jobs": {
        query?: { kind?: string | null };
        answer: JobList;
      };
      "/api/jobs/options": {
        answer: JobOptions;
      };
      "/api/jobs/{job}": {
        path: { job: string };
        answer: JobData;
      };
      "/api/jobs/{job}/log": {
        path: { job: string };
        answer: LogData;
      };
      "/api/matches/compare": {
        query: { ids: string };
        answer: ChartData;
      };
      "/api/matches/compare/csv": {
        query: { ids: string };
        answer: string;
      };
      "/api/matches/{match}": {
        path: { match: string };
        answer: MatchData;
      };
      "/api/matches/{match}/csv": {
        path: { match: string };
        answer: string;
      };
      "/api/matches/{match}/charts/{chart}": {
        path: { match: string; chart: string };
        answer: ChartData;
      };
      "/api/matches/{match}/charts/{chart}/csv": {
        path: { match: string; chart: string };
        answer: string;
      };
      "/api/trainings": {
        answer: TrainingList;
      };
      "/api/trainings/options/patterns": {
        query?: { board?: string; network?: string; shared?: boolean };
        answer: string;
      };
      "/api/trainings/options": {
        answer: OptionList;
      };
      "/api/trainings/{training}": {
        path: { training: string };
        answer: TrainingShown;
      };
      "/api/trainings/{training}/charts/{chart}": {
        path: { training: string; chart: string };
        answer: ChartData;
      };
      "/api/trainings/{training}/charts/{chart}/csv": {
        path: { training: string; chart: string };
        answer: string;
      };
      "/api/solves/{solve}/chart": {
        path: { solve: string };
        answer: ChartData;
      };
      "/api/solves/{solve}/chart/csv": {
        path: { solve: string };
        answer: string;
      };
      "/api/tables": {
        answer: SolvedList;
      };
      "/api/tables/{table}": {
        path: { table: string };
        answer: SolvedShown;
      };
      "/api/tables/{table}/layers": {
        path: { table: string };
        answer: ChartData;
      };
      "/api/tables/{table}/layers/csv": {
        path: { table: string };
        answer: string;
      };
      "/api/tables/{table}/hardest": {
        path: { table: string };
        query?: { n?: number };
        answer: HardList;
      };
      "/api/studies": {
        answer: StudyList;
      };
      "/api/studies/{study}/report": {
        path: { study: string };
        query?: { size?: "tiny" | "quick" | "full" };
        answer: StudyReport;
      };
      "/api/studies/{study}/chart": {
        path: { study: string };
        query?: { size?: "tiny" | "quick" | "full" };
        answer: string;
      };
      "/api/trash": {
        answer: TrashData;
      };
    };
    POST: {
      "/api/games": {
        body: NewGame;
        answer: GameData;
      };
      "/api/games/import": {
        body: string;
        answer: Imported;
      };
      "/api/games/{game}/moves": {
        path: { game: number };
        body: MovesBody;
        answer: ChangeData;
      };
      "/api/games/{game}/undo": {
        path: { game: number };
        body: StepsBody;
        answer: ChangeData;
      };
      "/api/games/{game}/redo": {
        path: { game: number };
        body: StepsBody;
        answer: ChangeData;
      };
      "/api/games/{game}/step": {
        path: { game: number };
        body: StepBody;
        answer: ChangeData;
      };
      "/api/games/{game}/fork": {
        path: { game: number };
        body: ForkBody;
        answer: GameData;
      };
      "/api/games/{game}/restore": {
        path: { game: number };
        answer: StateData;
      };
      "/api/hint": {
        body: HintBody;
        answer: HintData;
      };
      "/api/games/{game}/review": {
        path: { game: number };
        body: ReviewBody;
        answer: ReviewState;
      };
      "/api/games/{game}/position": {
        path: { game: number };
        body: BranchBody;
        answer: PositionData;
      };
      "/api/games/{game}/puzzles": {
        path: { game: number };
        answer: AddedData;
      };
      "/api/puzzles/{puzzle}": {
        path: { puzzle: number };
        body: TryBody;
        answer: TriedData;
      };
      "/api/practice/{formation}/position": {
        path: { formation: string };
        body: PracticeDraw;
        answer: PracticePosition;
      };
      "/api/practice/{formation}/move": {
        path: { formation: string };
        body: PracticeMove;
        answer: PracticeMade;
      };
      "/api/players/check": {
        body: SpecBody;
        answer: SpecData;
      };
      "/api/design": {
        body: RulesBody;
        answer: DesignData;
      };
      "/api/design/estimate": {
        body: EstimateBody;
        answer: EstimateData;
      };
      "/api/jobs/{job}/cancel": {
        path: { job: string };
        answer: JobData;
      };
      "/api/jobs/{job}/resume": {
        path: { job: string };
        answer: JobData;
      };
      "/api/matches": {
        body: MatchBody;
        answer: JobData;
      };
      "/api/matches/plan": {
        body: MatchBody;
        answer: CommandData;
      };
      "/api/trainings": {
        body: TrainingBody;
        answer: JobData;
      };
      "/api/trainings/plan": {
        body: TrainingBody;
        answer: TrainingPlan;
      };
      "/api/trainings/{training}/checkpoints": {
        path: { training: string };
        answer: CheckpointData;
      };
      "/api/trainings/{training}/checkpoints/{number}": {
        path: { training: string; number: number };
        answer: CheckpointData;
      };
      "/api/solves": {
        body: SolveBody;
        answer: JobData;
      };
      "/api/solves/plan": {
        body: SolveBody;
        answer: CommandData;
      };
      "/api/tables/{table}/probe": {
        path: { table: string };
        body: ProbeBody;
        answer: ProbeData;
      };
      "/api/studies": {
        body: StudyBody;
        answer: JobData;
      };
      "/api/trash/{key}/restore": {
        path: { key: string };
        answer: RestoredData;
      };
    };
    PUT: {
      "/api/games/{game}/auto": {
        path: { game: number };
        body: AutoBody;
        answer: StateData;
      };
    };
    DELETE: {
      "/api/games/{game}": {
        path: { game: number };
        answer: DeletedData;
      };
      "/api/games/{game}/review": {
        path: { game: number };
        query?: { reviewer?: string };
        answer: ReviewState;
      };
      "/api/jobs/{job}": {
        path: { job: string };
        answer: GoneData;
      };
      "/api/trainings/{training}": {
        path: { training: string };
        answer: GoneData;
      };
      "/api/trainings/{training}/checkpoints/{number}": {
        path: { training: string; number: number };
        answer: GoneData;
      };
      "/api/tables/{table}": {
        path: { table: string };
        answer: GoneData;
      };
      "/api/trash": {
        answer: TrashData;
      };
    };
  }
}
