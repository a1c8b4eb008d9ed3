"""The data sets of the experiments: the same numbers from every source, or an error that says what to do."""

import gzip
import hashlib
import http.server
import importlib.util
import io
import socket
import tarfile
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sharpley import _cache
from sharpley.experiments import datasets, downloads, readers
from sharpley.experiments.datasets import DATASETS, load
from sharpley.experiments.downloads import DownloadError

ADULT_DATA = b"""\
39, State-gov, 77516, Bachelors, 13, Never-married, Sales, Husband, White, Male, 2174, 0, 40, Cuba, <=50K
50, ?, 83311, HS-grad, 9, Divorced, Sales, Wife, Black, Female, 0, 0, 13, United-States, >50K

"""
ADULT_TEST = b"""\
|1x3 Cross validator
25, Private, 226802, 11th, 7, Never-married, ?, Own-child, Black, Male, 0, 1, 40, ?, >50K.

"""
ADULT_COPY = """\
age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,\
capital-loss,hours-per-week,native-country,split,y
39,State-gov,77516,Bachelors,13,Never-married,Sales,Husband,White,Male,2174,0,40,Cuba,train,0
50,?,83311,HS-grad,9,Divorced,Sales,Wife,Black,Female,0,0,13,United-States,train,1
25,Private,226802,11th,7,Never-married,?,Own-child,Black,Male,0,1,40,?,test,1
"""
BANK = b"""\
"age";"job";"marital";"education";"default";"balance";"housing";"loan";"contact";"day";"month";"duration";\
"campaign";"pdays";"previous";"poutcome";"y"
58;"management";"married";"tertiary";"no";2143;"yes";"no";"unknown";5;"may";261;1;-1;0;"unknown";"no"
44;"admin.";"single";"secondary";"no";-29;"yes";"yes";"cellular";5;"jan";151;1;-1;0;"failure";"yes"
"""
HOUSING = b"""\
-122.230000,37.880000,41.000000,880.000000,129.000000,322.000000,126.000000,8.325200,452600.000000
-122.220000,37.860000,21.000000,7099.000000,1106.000000,2401.000000,1138.000000,8.301400,358500.000000
"""
YEAR = b"".join(b"%d," % year + b",".join(b"%d.5" % (year + i) for i in range(90)) + b"\n" for year in (1922, 2011))

MEMBERS = {
    "adult": {"adult.data": ADULT_DATA, "adult.test": ADULT_TEST},
    "bank": {"bank-full.csv": BANK},
    "cal_housing": {"cal_housing.data": HOUSING},
    "year": {"YearPredictionMSD.txt": YEAR},
}
EXPECTED = {
    "adult": (
        # numbers; workclass ? Private State-gov; education 11th Bachelors HS-grad; Divorced Never-married; ? Sales;
        # Husband Own-child Wife; Black White; Female Male; ? Cuba (United-States, the last, is left out)
        np.array(
            [
                [39, 77516, 13, 2174, 0, 40, *[0, 0, 1], *[0, 1, 0], *[0, 1], *[0, 1], *[1, 0, 0], 0, 1, 0, 1, 0, 1],
                [50, 83311, 9, 0, 0, 13, *[1, 0, 0], *[0, 0, 1], *[1, 0], *[0, 1], *[0, 0, 1], 1, 0, 1, 0, 0, 0],
                [25, 226802, 7, 0, 1, 40, *[0, 1, 0], *[1, 0, 0], *[0, 1], *[1, 0], *[0, 1, 0], 1, 0, 0, 1, 1, 0],
            ],
            dtype=float,
        ),
        np.array([0.0, 1, 1]),
    ),
    "bank": (
        np.array(
            [
                [58, 1, 0, 1, 0, 2143, 0, 0, 1, 5, 1, 261, 1, -1, 0, 1],
                [44, 0, 1, 0, 0, -29, 0, 1, 0, 5, 0, 151, 1, -1, 0, 0],
            ],
            dtype=float,
        ),
        np.array([0.0, 1]),
    ),
    "cal_housing": (
        np.array(
            [
                [8.3252, 41, 880 / 126, 129 / 126, 322, 322 / 126, 37.88, -122.23],
                [8.3014, 21, 7099 / 1138, 1106 / 1138, 2401, 2401 / 1138, 37.86, -122.22],
            ]
        ),
        np.array([4.526, 3.585]),
    ),
    "year": (np.array([[1922.5], [2011.5]]) + np.arange(90), np.array([1922.0, 2011])),
}


def zipped(contents):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def tarred(contents):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in contents.items():
            entry = tarfile.TarInfo("CaliforniaHousing/" + name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def arrays(x, y):
    buffer = io.BytesIO()
    np.savez(buffer, X=np.asfortranarray(x), y=y)
    return buffer.getvalue()


def bank_copy():
    text = BANK.decode().replace('"', "").replace(";", ",")
    return gzip.compress(text.replace(",no\n", ",0\n").replace(",yes\n", ",1\n").encode())


SOURCES = {
    "adult": [
        MEMBERS["adult"],
        {"adult.zip": zipped({"Index": b"", **MEMBERS["adult"]})},
        {"adult/adult.data": ADULT_DATA, "adult/adult.test": ADULT_TEST},
        {"adult/adult.csv.gz": gzip.compress(ADULT_COPY.encode())},
    ],
    "bank": [
        MEMBERS["bank"],
        {"bank.zip": zipped({"bank.csv": b"", **MEMBERS["bank"]})},
        {"bank+marketing.zip": zipped({"bank-additional.zip": zipped({}), "bank.zip": zipped(MEMBERS["bank"])})},
        {"bank/bank_full.csv.gz": bank_copy()},
    ],
    "cal_housing": [
        MEMBERS["cal_housing"],
        {"cal_housing.tgz": tarred(MEMBERS["cal_housing"])},
        {"cal_housing/cal_housing.npz": arrays(*EXPECTED["cal_housing"])},
    ],
    "year": [
        MEMBERS["year"],
        {"yearpredictionmsd.zip": zipped(MEMBERS["year"])},
        {"YearPredictionMSD.txt.zip": zipped(MEMBERS["year"])},
        {"year/year_subset.npz": arrays(*EXPECTED["year"])},
    ],
}


def put(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def change(monkeypatch, name, **changes):
    monkeypatch.setitem(datasets._RECIPES, name, datasets._RECIPES[name]._replace(**changes))


@pytest.fixture
def few_rows(monkeypatch):
    """The few rows above stand for the data sets."""
    for name, content in EXPECTED.items():
        change(monkeypatch, name, notes={datasets._digest(*content): "a few rows"})


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv(_cache.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "data"


@pytest.mark.parametrize(("name", "files"), [(name, files) for name in SOURCES for files in SOURCES[name]])
def test_every_source_gives_the_same_numbers(name, files, few_rows, tmp_path):
    found = load(name, put(tmp_path, files))
    x, y = EXPECTED[name]
    np.testing.assert_array_equal(found.X, x)
    np.testing.assert_array_equal(found.y, y)
    assert found.X.dtype == found.y.dtype == np.float64
    assert found.X.flags.c_contiguous
    assert len(found.feature_names) == x.shape[1]
    assert (found.name, found.note) == (name, "a few rows")
    assert found.is_classification == (name in ("adult", "bank"))


def test_adult_is_encoded_as_pandas_does():
    frame = pd.read_csv(io.StringIO(ADULT_COPY), keep_default_na=False).drop(columns=["split", "y"])
    dummies = pd.get_dummies(frame, dtype=float).iloc[:, :-1]
    x, _, names = readers.adult(io.BytesIO(ADULT_DATA), io.BytesIO(ADULT_TEST))
    assert list(names) == list(dummies.columns)
    np.testing.assert_array_equal(x, dummies.to_numpy())


def test_what_comes_with_scikit_learn_needs_no_files(tmp_path):
    cancer, made = load("breast_cancer", tmp_path), load("make_regression")
    assert (cancer.X.shape, cancer.is_classification, set(cancer.y)) == ((569, 30), True, {0.0, 1.0})
    assert "699" in cancer.note  # the paper's number of rows
    assert (made.X.shape, made.is_classification, made.note) == ((1000, 10), False, "")
    np.testing.assert_array_equal(made.X, load("make_regression").X)


def test_unknown_names_and_missing_files_are_told(tmp_path, place):
    with pytest.raises(ValueError, match=r"unknown data set 'iris'; choose one of 'adult', 'breast_cancer'"):
        load("iris")
    put(tmp_path, {"adult.data": ADULT_DATA})  # half of it is not enough
    expected = r"expected one of adult.zip, adult.data and adult.test, .*2/adult.zip"
    with pytest.raises(FileNotFoundError, match=expected) as told:
        load("adult", tmp_path)
    for other in ("bank", "cal_housing", "year"):
        assert f"{other}: http" in str(told.value)


def test_what_a_folder_lacks_is_looked_for_in_the_cache(tmp_path, place, few_rows):
    put(place, SOURCES["bank"][0])
    (tmp_path / "empty").mkdir()
    np.testing.assert_array_equal(load("bank", tmp_path / "empty").X, EXPECTED["bank"][0])
    with pytest.raises(FileNotFoundError) as told:
        load("year", tmp_path / "empty")
    assert "adult: http" in str(told.value)
    assert "bank: http" not in str(told.value)


WRONG = {
    "adult": {
        "adult.zip": [b"", b"<html>", SOURCES["adult"][1]["adult.zip"][:-9], zipped({"adult.data": ADULT_DATA})],
        "adult/adult.csv.gz": [b"", gzip.compress(b""), gzip.compress(b"age,y\n1,0\n"), gzip.compress(b"a")[:-4]],
    },
    "bank": {"bank-full.csv": [b"", BANK[:-9], BANK.replace(b"58", b"59"), BANK[:-1] + b";1\n", b"\xff\xfe" * 9]},
    "cal_housing": {
        "cal_housing.tgz": [b"", b"<html>", tarred({"other": b""}), tarred({"cal_housing.data": HOUSING[:-99]})],
        "cal_housing/cal_housing.npz": [b"", arrays(1.0, 2.0), arrays([[1.0]], [2.0]), arrays([[{}]], [1.0])],
    },
    "year": {"YearPredictionMSD.txt": [YEAR[:-1] + b",1\n", YEAR.replace(b"1922,", b"1921,"), b"1990,nan\n"]},
}


@pytest.mark.parametrize(
    ("name", "file", "content"),
    [
        # archives hold the time, which must not be part of a test's name: parallel workers compare names
        pytest.param(name, file, content, id=f"{file}-{i}")
        for name in WRONG
        for file in WRONG[name]
        for i, content in enumerate(WRONG[name][file])
    ],
)
def test_a_damaged_or_other_file_is_named_with_what_to_do(name, file, content, few_rows, tmp_path):
    put(tmp_path, {file: content})
    with pytest.raises(ValueError, match=r"(cannot be read \(.+\)|does not hold the \w+ data).*--data DIR") as caught:
        load(name, tmp_path)
    assert str(caught.value).startswith(str(tmp_path / file))
    assert datasets._RECIPES[name].original.url in str(caught.value)


def test_a_few_rows_are_not_taken_for_the_data_sets(tmp_path):
    for name, sources in SOURCES.items():
        for i, files in enumerate(sources):
            with pytest.raises(ValueError, match=f"does not hold the {name} data"):
                load(name, put(tmp_path / f"{name}{i}", files))


def test_the_whole_of_year_is_known_by_its_shape_and_first_row(monkeypatch):
    monkeypatch.setattr(datasets, "WHOLE_YEAR", (3, 2))
    x, y = np.arange(6.0).reshape(3, 2), np.arange(3.0)
    known = datasets._digest(x, y)
    assert datasets._digest(x + np.eye(3)[:, 2:], y) == known
    assert datasets._digest(x + np.eye(3)[:, :1], y) != known
    assert datasets._digest(x[:2], y[:2]) != known


@pytest.mark.parametrize("line", [b"1921,", b"2012,", b"nan,", b"2000,inf,"])
def test_years_that_cannot_be_are_refused(line):
    rows = YEAR + line + YEAR.split(b",", line.count(b","))[-1].split(b"\n")[0] + b"\n"
    with pytest.raises(ValueError, match="years from 1922 to 2011"):
        readers.year(io.BytesIO(rows))


class Server(http.server.ThreadingHTTPServer):
    """Serves the adult archive, or what ``reply`` does instead."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/adult.zip"
        self.content = SOURCES["adult"][1]["adult.zip"]
        self.requests = 0
        self.reply = lambda handler: answer(handler, self.content)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests += 1
        self.server.reply(self)

    def log_message(self, *arguments):
        pass


def answer(handler, content, status=200, length=None):
    handler.send_response(status)
    if length != "unknown":
        handler.send_header("Content-Length", str(length or len(content)))
    handler.end_headers()
    handler.wfile.write(content)


@pytest.fixture
def server(few_rows, place, monkeypatch):
    with Server() as running:
        change(monkeypatch, "adult", original=datasets._RECIPES["adult"].original._replace(url=running.url))
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def is_adult(found):
    return np.array_equal(found.X, EXPECTED["adult"][0]) and np.array_equal(found.y, EXPECTED["adult"][1])


def names_in(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.mark.parametrize("length", [None, "unknown"])
def test_a_download_is_kept_and_not_repeated(length, server, place, capfd):
    server.reply = lambda handler: answer(handler, server.content, length=length)
    assert is_adult(load("adult"))
    assert names_in(place) == ["adult.zip"]
    assert "adult.zip" in capfd.readouterr().err
    assert is_adult(load("adult"))
    assert server.requests == 1


def test_nothing_is_kept_if_the_cache_is_off(server, monkeypatch):
    monkeypatch.setenv(_cache.VARIABLE, "")
    assert is_adult(load("adult"))
    assert is_adult(load("adult"))
    assert server.requests == 2


def test_a_damaged_file_in_the_cache_is_downloaded_again(server, place):
    put(place, {"adult.zip": server.content[:-9]})
    assert is_adult(load("adult"))
    assert (place / "adult.zip").read_bytes() == server.content


FAILURES = {
    "not found": (lambda handler: answer(handler, b"", status=404), r"HTTP Error 404"),
    "cut off": (lambda handler: answer(handler, b"x" * 99, length=1000), r"99 of 1,000 bytes"),
    "a page instead": (lambda handler: answer(handler, b"<html>"), r"cannot be read \(File is not a zip file\)"),
    "other data": (
        lambda handler: answer(handler, zipped({"adult.data": ADULT_DATA, "adult.test": b""})),
        r"does not hold the adult data, but 2 other rows of 20 columns",
    ),
    "silence": (lambda handler: time.sleep(0.5), r"timed out"),
    "no HTTP": (lambda handler: handler.wfile.write(b"hello"), r"hello"),
    "nothing": (lambda handler: None, r"Remote end closed connection"),
}


@pytest.mark.parametrize(("reply", "reason"), FAILURES.values(), ids=FAILURES)
def test_a_failed_download_says_what_to_do_and_leaves_nothing(reply, reason, server, place, monkeypatch):
    monkeypatch.setattr(downloads, "TIMEOUT", 0.2)
    server.reply = reply
    what_to_do = f"get {server.url}, save it as adult.zip in a folder DIR, and pass --data DIR"
    with pytest.raises(DownloadError, match=f"{reason}.*{what_to_do}"):
        load("adult")
    assert names_in(place) == []


def test_without_a_network_the_error_says_what_to_do(few_rows, place, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/x"
    change(monkeypatch, "year", original=datasets._RECIPES["year"].original._replace(url=url))
    with pytest.raises(OSError, match=f"refused.*get {url}, save it as yearpredictionmsd.zip .*--data DIR"):
        load("year")


def test_a_cache_folder_that_cannot_be_written_to_is_told(server, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv(_cache.VARIABLE, str(tmp_path / "file"))
    with pytest.raises(DownloadError, match=r"cannot keep data in .*file.*set SHARPLEY_CACHE_DIR"):
        load("adult")
    assert server.requests == 0


def test_no_one_sees_half_a_file(server, place):
    half_sent, go_on = threading.Event(), threading.Event()

    def in_halves(handler):
        answer(handler, server.content[:300], length=len(server.content))
        half_sent.set()
        go_on.wait(10)
        handler.wfile.write(server.content[300:])

    server.reply = in_halves
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(load, "adult")
        assert half_sent.wait(10)
        seen = names_in(place)
        server.reply = lambda handler: answer(handler, server.content)
        second = load("adult")  # another one meanwhile
        go_on.set()
        assert is_adult(second)
        assert is_adult(first.result())
    assert [name[:10] for name in seen] == [".download-"]  # on the same disk, so that it can be moved in one go
    assert names_in(place) == ["adult.zip"]


def shared_folder():
    for folder in (Path(__file__).parents[2] / "shared" / "data", Path("/work/shared/data")):
        if (folder / "load.py").is_file():
            return folder
    pytest.skip("the data sets are not at hand")


@pytest.fixture(scope="module")
def shared():
    """The folder of data sets and the slow, obvious loader beside it."""
    folder = shared_folder()
    spec = importlib.util.spec_from_file_location("load", folder / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return folder, module


@pytest.mark.parametrize("name", sorted(set(DATASETS) - {"make_regression"}))
def test_the_real_data_are_those_of_the_obvious_loader(name, shared):
    folder, module = shared
    found = load(name, folder)
    x, y, names = module.adult("107") if name == "adult" else getattr(module, name)()
    np.testing.assert_array_equal(found.X, x)
    np.testing.assert_array_equal(found.y, y)
    assert found.feature_names == tuple(names)
    assert found.note == "7,000-row sample of YearPredictionMSD" or name != "year"


def test_the_public_files_of_adult_give_the_real_data(shared, tmp_path):
    """Written as at their home, where these SHA-256 were published, the rows are read as the same data set."""
    folder, _ = shared
    frame = pd.read_csv(folder / "adult/adult.csv.gz", keep_default_na=False, dtype=str)
    frame["y"] = frame["y"].map({"0": "<=50K", "1": ">50K"}) + frame["split"].map({"train": "", "test": "."})
    lines = pd.Series([", ".join(row) for row in frame.drop(columns="split").to_numpy()])
    parts = {split: "\n".join(lines[frame["split"] == split]) + "\n\n" for split in ("train", "test")}
    files = {"adult.data": parts["train"].encode(), "adult.test": b"|1x3 Cross validator\n" + parts["test"].encode()}
    assert [hashlib.sha256(content).hexdigest() for content in files.values()] == [
        "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    ]
    assert load("adult", put(tmp_path, files)).X.shape == (48842, 107)
