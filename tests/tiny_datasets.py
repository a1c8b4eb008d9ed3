"""A few rows that stand for the data sets, from every source they are read from."""

import gzip
import io
import tarfile
import zipfile

import numpy as np

from sharpley_experiments.common import datasets

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
